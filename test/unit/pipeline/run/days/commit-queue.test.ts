import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDay, shiftDay } from '../../../../../src/core/day.ts';
import { StorageError, UnitError } from '../../../../../src/core/errors.ts';
import { CommitQueue, type Written } from '../../../../../src/pipeline/run/commit-queue.ts';
import type { CommitOutcome, DayCommit } from '../../../../../src/units/unit.ts';
import { commitOf } from '../../../../support/warehouse/commit-of.ts';

const FIRST = parseDay('2026-02-01');

/** A day with this number of rows. */
function dayOf(offset: number, rows = 1): DayCommit {
  const models = Array.from({ length: rows }, (_, n) => [`m${n}`, null, 1, null, null, null, null, null]);
  return commitOf({ day: shiftDay(FIRST, offset), rows: { tokens_daily_by_model: models } });
}

/** A writer into groups of days, with a store that waits until it is let go on. */
function slowWriter(fails: (days: readonly string[]) => Error | undefined = () => undefined) {
  const groups: string[][] = [];
  const reported: Written[] = [];
  let release: () => void = () => undefined;
  const writer = new CommitQueue(async (commits): Promise<CommitOutcome[]> => {
    groups.push(commits.map(({ day }) => day));
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    const error = fails(commits.map(({ day }) => day));
    if (error !== undefined) throw error;
    return commits.map(() => ({ rowsWritten: 1, restated: false, units: [] }));
  });
  return {
    writer,
    groups,
    reported,
    add: (commit: DayCommit) => writer.add(commit, (written) => void reported.push(written)),
    /** Lets every group that comes be written. */
    flow: async () => {
      const idle = writer.whenIdle();
      let isIdle = false;
      void idle.then(() => {
        isIdle = true;
      });
      while (!isIdle) {
        release();
        await new Promise(setImmediate);
      }
    },
  };
}

describe('the commit queue', () => {
  it('commits waiting days together, in order of arrival', async () => {
    const { add, groups, reported, flow } = slowWriter();
    await add(dayOf(0));
    await new Promise(setImmediate);
    for (let n = 1; n < 6; n += 1) await add(dayOf(n));
    await flow();
    expect(groups.map((group) => group.length)).toEqual([1, 5]);
    expect(reported.map(({ commit }) => commit.day)).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => shiftDay(FIRST, n)),
    );
  });

  it('commits a large day alone', async () => {
    const { add, groups, flow } = slowWriter();
    for (const rows of [1, 5_000, 1]) await add(dayOf(rows, rows));
    await flow();
    expect(groups.map((group) => group.length)).toEqual([1, 1, 1]);
  });

  it('makes producers wait while too many rows are queued', async () => {
    const { add, flow } = slowWriter();
    for (let n = 0; n < 2; n += 1) await add(dayOf(n, 5_000));
    let isIn = false;
    const third = add(dayOf(2, 5_000)).then(() => {
      isIn = true;
    });
    await new Promise(setImmediate);
    expect(isIn).toBe(false);
    await Promise.all([third, flow()]);
    expect(isIn).toBe(true);
  });

  it('commits one by one when a group fails because of one day, and reports the error to that day only', async () => {
    const bad = shiftDay(FIRST, 2);
    const { add, reported, flow } = slowWriter((days) =>
      days.includes(bad) ? new UnitError('bad') : undefined,
    );
    for (let n = 0; n < 4; n += 1) await add(dayOf(n));
    await flow();
    expect(reported).toHaveLength(4);
    expect(reported.filter(({ result }) => 'error' in result).map(({ commit }) => commit.day)).toEqual([bad]);
  });

  it('does not use the storage again for queued days once it failed', async () => {
    const { add, reported, groups, flow } = slowWriter(() => new StorageError('full'));
    await add(dayOf(0));
    await new Promise(setImmediate);
    for (let n = 1; n < 4; n += 1) await add(dayOf(n, 2_000));
    await flow();
    expect(groups).toHaveLength(1);
    expect(reported.every(({ result }) => 'error' in result && result.error instanceof StorageError)).toBe(
      true,
    );
    expect(reported).toHaveLength(4);
  });

  it('commits the days of a stream in the order in which their batches began, whatever the order of their answers', async () => {
    const { writer, reported, flow } = slowWriter();
    const turns = [0, 1, 2].map(() => writer.begin('tokens'));
    const answer = async (index: number, days: readonly number[]) => {
      for (const day of days)
        await writer.add(dayOf(day), (written) => void reported.push(written), turns[index]);
      turns[index]?.end();
    };
    await answer(2, [4]);
    await answer(0, [0, 1]);
    await new Promise(setImmediate);
    // The batch in between failed: it has no day.
    await answer(1, []);
    await flow();
    expect(reported.map(({ commit }) => commit.day)).toEqual([0, 1, 4].map((n) => shiftDay(FIRST, n)));
  });

  it('holds no day back while too many rows wait, so that memory is freed', async () => {
    const { writer, groups, reported, flow } = slowWriter();
    writer.begin('tokens');
    const later = writer.begin('tokens');
    for (const n of [1, 2]) {
      await writer.add(dayOf(n, 5_000), (written) => void reported.push(written), later);
    }
    await flow();
    expect(groups).toEqual([[shiftDay(FIRST, 1)]]);
  });

  it('loses no day and keeps the order of each stream, in any order of answers', async () => {
    const batch = fc.record({ days: fc.nat(3), isLate: fc.boolean() });
    const check = async (batches: readonly { days: number; isLate: boolean }[]) => {
      const order: number[] = [];
      const queue = new CommitQueue(async (commits) => {
        await new Promise(setImmediate);
        return commits.map(() => ({ rowsWritten: 1, restated: false, units: [] }));
      });
      const begun = batches.map(({ days, isLate }, index) => ({
        turn: queue.begin('tokens'),
        days,
        isLate,
        index,
      }));
      for (const { turn, days, index } of begun.toSorted((a, b) => Number(a.isLate) - Number(b.isLate))) {
        for (let n = 0; n < days; n += 1) await queue.add(dayOf(index), () => void order.push(index), turn);
        turn.end();
      }
      await queue.whenIdle();
      expect(order).toEqual(begun.flatMap(({ days, index }) => Array.from({ length: days }, () => index)));
    };
    await fc.assert(fc.asyncProperty(fc.array(batch, { maxLength: 12 }), check), { numRuns: 60 });
  });
});
