import { TestRunner } from 'vitest';

/** What the tests of a campaign covered; the reporter prints the totals. */
export interface Counted {
  /** What is counted, for example `kill points`. */
  readonly campaign: keyof typeof PROMISES;
  /** Where, for example `at writes on SQLite`. */
  readonly where: string;
  readonly count: number;
}

/** What is proven for everything counted, if no test failed. */
export const PROMISES = {
  'kill points': 'all whole, all digests equal',
  'mutated answers': 'no crash, no hang, no partial unit; all loaded as sent, set aside or refused',
} as const;

declare module 'vitest' {
  interface TaskMeta {
    counted?: Counted[];
  }
}

/** Adds to the totals printed at the end of the suite. */
export function countUp(campaign: Counted['campaign'], where: string, count: number): void {
  const meta = TestRunner.getCurrentTest()?.meta;
  if (meta !== undefined) meta.counted = [...(meta.counted ?? []), { campaign, where, count }];
}

/** A line per campaign: `kill points: 12 at writes on SQLite, …; all whole, all digests equal`. */
export function linesOf(counted: readonly Counted[], allPassed: boolean): string[] {
  const sums = new Map<Counted['campaign'], Map<string, number>>();
  for (const { campaign, where, count } of counted) {
    const places = sums.get(campaign) ?? new Map<string, number>();
    sums.set(campaign, places.set(where, (places.get(where) ?? 0) + count));
  }
  return [...sums].map(([campaign, places]) => {
    const parts = [...places].map(([where, count]) => `${count} ${where}`);
    return `${campaign}: ${parts.join(', ')}; ${allPassed ? PROMISES[campaign] : 'BUT SOME TESTS FAILED'}`;
  });
}
