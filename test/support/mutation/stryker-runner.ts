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
}

/** The channel between Stryker's process and the thread that holds the tests. */
export const CHANNEL = 'daywalk: mutants';

interface MutantRun {
  readonly activeMutant: { readonly id: string };
  readonly testFilter?: readonly string[];
  readonly hitLimit?: number;
  readonly mutantActivation: 'static' | 'runtime';
}

class ResidentTests {
  private vitest: Vitest | undefined;
  private readonly channel = new BroadcastChannel(CHANNEL);

  capabilities(): object {
    return { reloadEnvironment: false };
  }

  async dryRun(): Promise<object> {
    const { ran, coverage } = await this.ask({});
    const tests = ran.map(({ failure, ...test }) =>
      failure === undefined ? { ...test, status: 0 } : { ...test, status: 1, failureMessage: failure },
    );
    return { status: 'complete', tests, mutantCoverage: coverage };
  }

  async mutantRun({ activeMutant, testFilter, hitLimit, mutantActivation }: MutantRun): Promise<object> {
    // What a module computes while it is loaded has the mutant only if this is set before.
    if (mutantActivation === 'static') process.env['__STRYKER_ACTIVE_MUTANT__'] = activeMutant.id;
    const { ran, isEndless } = await this.ask({ mutant: activeMutant.id, hitLimit, tests: testFilter });
    if (isEndless) return { status: 'timeout', reason: `reached ${hitLimit} times` };
    const killer = ran.find(({ failure }) => failure !== undefined);
    return killer === undefined
      ? { status: 'survived', nrOfTests: ran.length }
      : { status: 'killed', killedBy: [killer.id], failureMessage: killer.failure, nrOfTests: ran.length };
  }

  async dispose(): Promise<void> {
    this.channel.postMessage('stop');
    await this.vitest?.close();
    this.channel.close();
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
