import { join } from 'node:path';
import fc from 'fast-check';
import { inject, type RunnerTask, type RunnerTestCase, type RunnerTestFile, TestRunner } from 'vitest';
import { roomNow } from './rooms.ts';
import { type Answer, CHANNEL, type Question, type Ran } from './stryker-runner.ts';

/** What code with mutants reads and writes, see Stryker's instrumenter. */
interface Mutants {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: unknown;
}

// The same mutants survive in every run.
const SEED = 2026;
/** What a property may take: enough to find a mutant, and little enough for thousands of them. None needs the smallest example. */
const PROPERTY = { numRuns: 25, interruptAfterTimeLimit: 200, endOnFailure: true };

/** The maps that the code makes while tests are loaded, such as caches, with what they hold then. */
const kept = new Map<Map<unknown, unknown>, readonly (readonly [unknown, unknown])[]>();
/** Weak maps of the code, which cannot be listed, … */
const weakOfCode = new WeakSet<object>();
/** … and what takes out again what they have got since. */
const undo: (() => void)[] = [];
const CODE = join(process.cwd(), 'src/');
const isOfCode = () => new Error().stack?.includes(CODE) === true;
const [PlainMap, PlainWeakMap] = [Map, WeakMap];
globalThis.Map = class<Key, Item> extends Map<Key, Item> {
  constructor(entries?: Iterable<readonly [Key, Item]> | null) {
    super(entries);
    if (isOfCode()) kept.set(this, []);
  }
} as MapConstructor;
globalThis.WeakMap = class<Key extends WeakKey, Item> extends WeakMap<Key, Item> {
  constructor(entries?: Iterable<readonly [Key, Item]> | null) {
    super(entries);
    if (isOfCode()) weakOfCode.add(this);
  }

  override set(key: Key, item: Item): this {
    if (weakOfCode.has(this) && !this.has(key)) undo.push(() => this.delete(key));
    return super.set(key, item);
  }
} as WeakMapConstructor;

/** Keeps what the maps hold now, once everything is loaded. */
function keepMaps(): void {
  Object.assign(globalThis, { Map: PlainMap, WeakMap: PlainWeakMap });
  undo.length = 0;
  for (const map of kept.keys()) kept.set(map, [...map]);
}

/** A cache would hide a mutant from the test that reads it, and show what one mutant has computed to the next. */
function restoreMaps(): void {
  for (const forget of undo.splice(0)) forget();
  for (const [map, entries] of kept) {
    map.clear();
    for (const [key, item] of entries) map.set(key, item);
  }
}

/** Loads all tests, runs none, and then runs them when asked, see {@link Question}. */
export default class ResidentTests extends TestRunner {
  private readonly tests: RunnerTestCase[] = [];
  private filesLeft = inject('mutation: files');
  /** How long each test took last. */
  private readonly tookMs = new Map<string, number>();

  async runTask(): Promise<void> {
    // A test runs when it is asked for.
  }

  override async onAfterRunFiles(files: RunnerTestFile[]): Promise<void> {
    super.onAfterRunFiles(files);
    for (const file of files) {
      if (file.result?.state === 'fail') throw new Error(`${file.name}: ${file.result.errors?.[0]?.message}`);
      const { slow } = roomNow();
      this.tests.push(...testsIn(file).filter((test) => slow?.test(test.fullTestName) !== true));
    }
    this.filesLeft -= files.length;
    if (this.filesLeft > 0) return;
    keepMaps();
    fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED, ...PROPERTY });
    const channel = new BroadcastChannel(CHANNEL);
    const stopped = new Promise<void>((resolve) => {
      channel.onmessage = async ({ data }) => {
        if (data === 'stop') resolve();
        else channel.postMessage(await this.answer(data as Question));
      };
    });
    channel.postMessage('ready');
    await stopped;
    channel.close();
  }

  private async answer({ mutant, hitLimit, tests }: Question): Promise<Answer> {
    restoreMaps();
    const mutants = mutantsNow();
    Object.assign(mutants, { activeMutant: mutant, hitCount: 0, hitLimit });
    const chosen = tests === undefined ? undefined : new Set(tests);
    const asked = this.tests.filter((test) => chosen?.has(idOf(test)) ?? true);
    // The quick ones first: one test that fails is enough.
    const tookMs = (test: RunnerTestCase) => this.tookMs.get(idOf(test)) ?? 0;
    const ran: Ran[] = [];
    let killer: RunnerTestCase | undefined;
    for (const test of asked.toSorted((a, b) => tookMs(a) - tookMs(b))) {
      const result = await this.run(test, mutants);
      ran.push(result);
      if (mutant === undefined || result.failure === undefined) continue;
      killer = test;
      break;
    }
    const isEndless = hitLimit !== undefined && (mutants.hitCount ?? 0) > hitLimit;
    Object.assign(mutants, { activeMutant: undefined, hitCount: 0, hitLimit: undefined });
    restoreMaps();
    const again = killer === undefined || isEndless ? undefined : await this.run(killer, mutants);
    const coverage = mutant === undefined ? mutants.mutantCoverage : undefined;
    return { ran, isEndless, isSpoiled: again?.failure !== undefined, coverage };
  }

  private async run(test: RunnerTestCase, mutants: Mutants): Promise<Ran> {
    const id = idOf(test);
    const begun = performance.now();
    mutants.currentTestId = id;
    let failure: string | undefined;
    try {
      await TestRunner.getTestFn(test)();
    } catch (error) {
      failure = String(error);
    }
    mutants.currentTestId = undefined;
    const timeSpentMs = performance.now() - begun;
    this.tookMs.set(id, timeSpentMs);
    const told = { id, name: test.fullTestName, fileName: test.file.filepath, timeSpentMs };
    return failure === undefined ? told : { ...told, failure };
  }
}

function mutantsNow(): Mutants {
  const holder: { __stryker__?: Mutants } = globalThis as object;
  holder.__stryker__ ??= {};
  return holder.__stryker__;
}

function idOf(test: RunnerTestCase): string {
  return `${test.file.name}#${test.fullTestName}`;
}

function testsIn(task: RunnerTask): RunnerTestCase[] {
  if (task.type === 'test') return task.mode === 'run' ? [task] : [];
  const hooks = Object.entries(TestRunner.getSuiteHooks(task)).filter(([, list]) => list.length > 0);
  if (hooks.length > 0)
    throw new Error(`${task.fullName}: hooks such as ${hooks[0]?.[0]} are not called here`);
  return task.tasks.flatMap(testsIn);
}
