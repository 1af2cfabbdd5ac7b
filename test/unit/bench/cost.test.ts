import { describe, expect, it } from 'vitest';
import { COUNT_KINDS, type Counts } from '../../../bench/cost/counts.ts';
import { type Costs, compare, type Expected, readExpected, updated } from '../../../bench/cost/expected.ts';
import { fails, findingLines, table } from '../../../bench/cost/report.ts';
import { DATABASES, SCENARIOS } from '../../../bench/cost/scenarios.ts';

const COUNTS: Counts = {
  writtenBytes: 10_000_000,
  walBytes: 5_000_000,
  fsyncs: 100,
  statements: 1_000,
  transactions: 50,
  requests: 40,
  peakBytes: 150_000_000,
  cpuRatio: 4,
};

const night = (changed: Partial<Counts> = {}): Costs => ({
  sqlite: { night: { ...COUNTS, ...changed } },
  postgres: {},
});
const expected: Expected = { about: '', tolerance: 0.1, costs: night() };
const verdicts = (changed: Partial<Counts>) =>
  compare(expected, night(changed)).map(({ kind, verdict }) => [kind.name, verdict]);

describe('the comparison of counts with their figures', () => {
  it('accepts what is within the tolerance', () => {
    expect(verdicts({})).toEqual([]);
    expect(verdicts({ statements: 1_100, writtenBytes: 10_999_000, peakBytes: 136_000_000 })).toEqual([]);
  });

  it('finds every count that is exceeded by more than the tolerance', () => {
    for (const { name } of COUNT_KINDS) {
      expect(verdicts({ [name]: (COUNTS[name] ?? 0) * 1.101 })).toEqual([[name, 'exceeded']]);
    }
  });

  it('accepts a few more of a small count, because some waits depend on the time', () => {
    const few = { about: '', tolerance: 0.1, costs: night({ fsyncs: 12 }) };
    expect(compare(few, night({ fsyncs: 16 }))).toEqual([]);
    expect(compare(few, night({ fsyncs: 17 }))).toMatchObject([
      { verdict: 'exceeded', expected: 12, measured: 17 },
    ]);
  });

  it('finds a count that is lower, but not a ratio below its limit', () => {
    expect(verdicts({ walBytes: 4_400_000, cpuRatio: 1 })).toEqual([['walBytes', 'below']]);
  });

  it('finds a count without a figure, and a figure without a count', () => {
    expect(compare({ about: '', tolerance: 0.1, costs: { sqlite: {}, postgres: {} } }, night())).toHaveLength(
      COUNT_KINDS.length,
    );
    expect(verdicts({ fsyncs: null })).toEqual([['fsyncs', 'not counted']]);
  });

  it('fails for more, for less and without a figure; for what is not counted only if it must be complete', () => {
    const outcome = (changed: Partial<Counts>, isComplete: boolean) =>
      compare(expected, night(changed)).map((finding) => fails(finding, isComplete));
    expect(outcome({ statements: 2_000 }, false)).toEqual([true]);
    expect(outcome({ statements: 500 }, false)).toEqual([true]);
    expect(outcome({ fsyncs: null }, false)).toEqual([false]);
    expect(outcome({ fsyncs: null }, true)).toEqual([true]);
  });

  it('says what to do, with both numbers', () => {
    const lines = (changed: Partial<Counts>) => findingLines(compare(expected, night(changed)), 0.1);
    expect(lines({ writtenBytes: 13_000_000 })).toEqual([
      'EXCEEDED sqlite night: written kB 13,000, ± 10 % of 10,000, +30 %: find out why; if it must be, raise the figure in bench/cost/expected.json and say why in the commit',
    ]);
    expect(lines({ transactions: 25 })).toEqual([
      'BELOW sqlite night: transactions 25, ± 10 % of 50, -50 %: better than expected: lower the figure in bench/cost/expected.json (npm run cost -- --write)',
    ]);
    expect(lines({ fsyncs: null, walBytes: null })).toHaveLength(1);
  });

  it('shows a count beside its figure where they differ, and what is not counted', () => {
    const shown = table(night({ statements: 1_200, fsyncs: null, cpuRatio: 3.5 }), expected.costs);
    expect(shown).toContain('1,200 (1,000)');
    expect(shown).toContain('3.50 (at most 4.00)');
    expect(shown).toContain('not counted');
  });
});

describe('writing the figures', () => {
  it('replaces what has changed, and keeps what is nearly the same or was not measured', () => {
    const old = { ...expected, costs: { ...night(), postgres: { night: COUNTS } } };
    const { costs } = updated(old, night({ statements: 800, writtenBytes: 10_050_000, fsyncs: null }));
    expect(costs).toEqual({ ...night({ statements: 800 }), postgres: { night: COUNTS } });
  });

  it('leaves room above a ratio of processor times, and keeps a limit that still fits', () => {
    const limit = (cpuRatio: number) =>
      updated(expected, night({ cpuRatio })).costs.sqlite?.['night']?.cpuRatio;
    expect(limit(3)).toBe(4);
    expect(limit(5)).toBe(6.3);
    expect(limit(1)).toBe(1.3);
  });
});

describe('the expected counts', () => {
  const { tolerance, costs } = readExpected();

  it('have every scenario on both databases, and nothing else', () => {
    const names = SCENARIOS.map(({ name }) => name);
    expect(Object.keys(costs)).toEqual([...DATABASES]);
    for (const database of DATABASES) expect(Object.keys(costs[database] ?? {})).toEqual(names);
    expect(tolerance).toBeLessThanOrEqual(0.1);
  });

  it('have a figure for every count', () => {
    const missing = DATABASES.flatMap((database) =>
      SCENARIOS.flatMap(({ name }) =>
        COUNT_KINDS.filter((kind) => typeof costs[database]?.[name]?.[kind.name] !== 'number').map(
          (kind) => `${database} ${name} ${kind.name}`,
        ),
      ),
    );
    expect(missing).toEqual([]);
  });
});
