/**
 * A test runner for Stryker that keeps one run of vitest alive, in a thread: a mutant costs the time of the tests that reach it.
 * Stryker's own runner for vitest starts a thread for each mutant, which takes a second and a half.
 */
import { createVitest, type Vitest } from 'vitest/node';

/** What the thread is asked: a question is answered before the next one is asked. */
export interface Question {
  /** The mutant to activate; none to find out which mutants each test reaches. */
  readonly mutant?: string;
  /** How often a mutant may be reached before it counts as an endless loop. */
  readonly hitLimit?: number | undefined;
  /** The tests to run, by ID. @default all */
  readonly tests?: readonly string[] | undefined;
}

export interface Ran {
  readonly id: string;
  readonly name: string;
  readonly fileName: string;
  readonly timeSpentMs: number;
  /** Why it failed. */
  readonly failure?: string;
}

export interface Answer {
  /** In the order in which they ran; none after the first one that failed with a mutant. */
  readonly ran: readonly Ran[];
  readonly coverage?: unknown;
  /** True if a mutant was reached more often than it may be. */
  readonly isEndless: boolean;
  /** True if the test that failed with a mutant fails without it too: an earlier mutant has left something behind, as in a cache. */
  readonly isSpoiled: boolean;
}

/** The channel between Stryker's process and the thread that holds the tests. */
export const CHANNEL = 'daywalk: mutants';

interface MutantRun {
  readonly activeMutant: { readonly id: string };
  readonly testFilter?: readonly string[];
  readonly hitLimit?: number;
}

class ResidentTests {
  private vitest: Vitest | undefined;
  private readonly channel = new BroadcastChannel(CHANNEL);

  capabilities(): object {
    // Mutants are active only while tests run, so what modules compute while they are loaded need not be computed again.
    return { reloadEnvironment: true };
  }

  async dryRun(): Promise<object> {
    const { ran, coverage } = await this.ask({});
    const tests = ran.map(({ failure, ...test }) =>
      failure === undefined ? { ...test, status: 0 } : { ...test, status: 1, failureMessage: failure },
    );
    return { status: 'complete', tests, mutantCoverage: coverage };
  }

  async mutantRun({ activeMutant, testFilter, hitLimit }: MutantRun): Promise<object> {
    const question = { mutant: activeMutant.id, hitLimit, tests: testFilter };
    let answer = await this.ask(question);
    if (answer.isSpoiled) {
      await this.stop();
      answer = await this.ask(question);
      // Now it is this mutant that leaves something behind.
      if (answer.isSpoiled) await this.stop();
    }
    const { ran, isEndless } = answer;
    if (isEndless) return { status: 'timeout', reason: `reached ${hitLimit} times` };
    const killer = ran.find(({ failure }) => failure !== undefined);
    return killer === undefined
      ? { status: 'survived', nrOfTests: ran.length }
      : { status: 'killed', killedBy: [killer.id], failureMessage: killer.failure, nrOfTests: ran.length };
  }

  async dispose(): Promise<void> {
    await this.stop();
    this.channel.close();
  }

  private async stop(): Promise<void> {
    this.channel.postMessage('stop');
    await this.vitest?.close();
    this.vitest = undefined;
  }

  private async ask(question: Question): Promise<Answer> {
    await this.start();
    const answer = this.next<Answer>();
    this.channel.postMessage(question);
    return answer;
  }

  private async start(): Promise<void> {
    if (this.vitest !== undefined) return;
    this.vitest = await createVitest('test', {
      config: 'test/support/mutation/vitest.config.ts',
      watch: false,
    });
    const ready = this.next();
    const files = await this.vitest.globTestSpecifications();
    this.vitest.provide('mutation: files', files.length);
    const ended = this.vitest.start().then(() => {
      const errors = this.vitest?.state.getUnhandledErrors() ?? [];
      const said = errors.map((error) => (error as Partial<Error>).message);
      throw new Error(`vitest ended before a mutant was tested: ${said.join('\n')}`);
    });
    await Promise.race([ready, ended]);
    ended.catch(() => undefined);
  }

  private next<Message>(): Promise<Message> {
    return new Promise((resolve) => {
      this.channel.onmessage = ({ data }) => resolve(data as Message);
    });
  }
}

/** What Stryker looks for in a plugin. */
export const strykerPlugins = [{ kind: 'TestRunner', name: 'resident', injectableClass: ResidentTests }];

declare module 'vitest' {
  interface ProvidedContext {
    /** The number of test files: the thread answers questions once it has loaded all of them. */
    'mutation: files': number;
  }
}
