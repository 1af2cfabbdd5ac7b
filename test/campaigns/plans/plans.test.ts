// @module-tag campaign/plans

import { expect, test } from 'vitest';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import {
  type Activity,
  commands,
  publish,
  READS,
  refresh,
  storeAgain,
} from '../../support/plans/activities.ts';
import { type Emitted, growing, type Measured } from '../../support/plans/emitted.ts';
import { emittedToSqlite, scansInLoops, timeAgain } from '../../support/plans/sqlite-plans.ts';
import { fill, nowOf, type Size } from '../../support/plans/world.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const SMALL: Size = { users: 150, days: 40 };
/** Four times the rows: by users, and by days. */
const LARGE: readonly Size[] = [
  { users: 600, days: 40 },
  { users: 150, days: 160 },
];

/** Processor time of a statement that says nothing about it, in milliseconds. */
const LEAST_MS = 8;

const STATISTICS = ['without statistics', 'with statistics'] as const;

/** Everything that the program does with a warehouse, with current rollups and with stale ones. */
async function actAll(warehouse: Warehouse, size: Size, emitted: Emitted): Promise<void> {
  const act = async (activities: readonly Activity[], state = '') => {
    for (const activity of activities) {
      emitted.activity = `${activity.name}${state}`;
      await activity.act(warehouse, size);
    }
  };
  await act([...READS, ...commands(sqlite.place().location), storeAgain]);
  await act(READS, ', stale');
  await act([refresh, publish]);
}

async function using<Result>(
  location: string,
  size: Size,
  work: (warehouse: Warehouse) => Promise<Result>,
): Promise<Result> {
  const clock = new FakeClock({ auto: true, now: nowOf(size).toISOString() });
  const warehouse = await openWarehouse(location, { clock, create: true });
  try {
    return await work(warehouse);
  } finally {
    await warehouse.close();
  }
}

interface Seen extends Measured {
  /** What was read again and again. */
  readonly scans: readonly string[];
}

/** What SQLite did with a warehouse of a size, without statistics and with them. */
async function measured(size: Size): Promise<Seen[]> {
  const place = sqlite.place();
  const { location } = place;
  await using(location, size, (warehouse) => fill(warehouse, size));
  const seen: Seen[] = [];
  for (const statistics of STATISTICS) {
    if (statistics === 'with statistics') await place.execute('ANALYZE');
    const emitted = await emittedToSqlite((own) =>
      using(location, size, (warehouse) => actAll(warehouse, size, own)),
    );
    const again = (statement: Parameters<Measured['again']>[0]) => timeAgain(location, statement);
    seen.push({ emitted, again, scans: scansInLoops(location, emitted) });
  }
  return seen;
}

onDatabase(sqlite, () => {
  test('no statement takes more than six times as long on four times the rows, or scans in a loop', async () => {
    const small = await measured(SMALL);
    for (const size of LARGE) {
      const large = await measured(size);
      for (const [index, statistics] of STATISTICS.entries()) {
        const [before, after] = [small[index], large[index]];
        if (before === undefined || after === undefined) throw new TypeError('nothing was measured');
        const where = `${size.users} users, ${size.days} days, ${statistics}`;
        expect(after.emitted.statements.size).toBeGreaterThan(300);
        expect.soft(growing(before, after, LEAST_MS), where).toEqual([]);
        expect.soft(after.scans, where).toEqual([]);
      }
    }
  });
});
