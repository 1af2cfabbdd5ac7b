import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
import { type Counted, linesOf } from './campaign-totals.ts';
// The types of what the setup provides, and of what tests note.
import '../postgres/provide-server.ts';
import './left-out.ts';

/** The most tests that are listed individually per skip reason. */
const NAMED_MAX = 5;

/**
 * Prints skipped tests with reasons, how many tests the filter of tags did not select, campaign totals, the versions of Node and of the PostgreSQL server, and as the last line the totals of the run.
 */
export default class TotalsReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const totals = { passed: 0, failed: errors.length, skipped: 0 };
    const skipped = new Map<string, string[]>();
    const unselected: TestCase[] = [];
    const counted: Counted[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counted.push(...(test.meta().counted ?? []));
        if (state === 'passed' || state === 'failed') totals[state] += 1;
        if (state !== 'skipped') continue;
        if (this.#isUnselected(test)) {
          unselected.push(test);
          continue;
        }
        totals.skipped += 1;
        const reason = test.meta().leftOut ?? reasonOf(test.result());
        skipped.set(reason, [...(skipped.get(reason) ?? []), test.fullName]);
      }
      if (module.state() === 'failed' && module.children.size === 0) totals.failed += 1;
    }
    const lines = [
      ...(skipped.size > 0 ? ['Skipped:', ...[...skipped].flatMap(skippedLines), ''] : []),
      ...unselectedLines(unselected),
      ...linesOf(counted, totals.failed === 0),
      `Node: ${process.versions.node}`,
      `Database: ${this.#server(skipped)}`,
      `Tests: ${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`,
    ];
    // After the default reporter, which prints its own summary in the same event.
    setImmediate(() => process.stdout.write(`\n${lines.join('\n')}\n`));
  }

  /** A test that the filter of tags does not select is not missing: another script runs it. */
  #isUnselected(test: TestCase): boolean {
    const isFiltered = this.#vitest?.config.tagsFilter !== undefined;
    return isFiltered && test.options.mode === 'skip' && test.meta().leftOut === undefined;
  }

  #server(skipped: ReadonlyMap<string, readonly string[]>): string {
    const { kind, description } = this.#vitest?.getRootProject().getProvidedContext().postgres ?? {};
    if (description === undefined) return 'no PostgreSQL was looked for';
    if (kind !== 'none') return description;
    return description.replace(
      'no PostgreSQL',
      `no PostgreSQL: ${skipped.get(description)?.length ?? 0} tests skipped`,
    );
  }
}

/** How many tests the filter of tags did not select, with the tags that other scripts select. */
function unselectedLines(tests: readonly TestCase[]): string[] {
  if (tests.length === 0) return [];
  const counts = Map.groupBy(
    tests.flatMap(({ tags }) => tags.filter((tag) => tag === 'postgresql' || tag.startsWith('ci/'))),
    (tag) => tag,
  );
  const parts = [...counts].map(([tag, { length }]) => `, ${length} ${tag}`);
  return [`Not selected by tags: ${tests.length} tests${parts.join('')}`];
}

function skippedLines([reason, names]: [reason: string, names: readonly string[]]): string[] {
  if (names.length > NAMED_MAX) return [`  ${names.length} tests: ${reason}`];
  return names.map((name) => `  ${name}: ${reason}`);
}

function reasonOf(result: object): string {
  return 'note' in result && typeof result.note === 'string' ? result.note : 'no reason given';
}
