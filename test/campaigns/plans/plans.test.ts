// @module-tag campaign/plans

import { expect, test } from 'vitest';
import { actAll, STATISTICS } from '../../support/plans/activities.ts';
import { growing, type Limits, type Measured, type Statement } from '../../support/plans/emitted.ts';
import { emittedToSqlite, scansInLoops, timeAgain } from '../../support/plans/sqlite-plans.ts';
import { fill, LARGE, type Size, SMALL, using } from '../../support/plans/world.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/**
 * Between four times the time, which is the share of four times the rows, and sixteen times, which is what all rows with all rows
 * take. Rows that no longer fit into the processor's cache alone can make six of the four. Times in milliseconds.
 */
const LIMITS: Limits = { factor: 8, least: 8 };

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
      using(location, size, (warehouse) => actAll(warehouse, { size, emitted: own, copyTo: sqlite.place() })),
    );
    const again = (statement: Statement) => timeAgain(location, statement);
    seen.push({ emitted, again, scans: scansInLoops(location, emitted) });
  }
  return seen;
}

onDatabase(sqlite, () => {
  test('no statement takes more than eight times as long on four times the rows, or scans in a loop', async () => {
    const small = await measured(SMALL);
    for (const size of LARGE) {
      const large = await measured(size);
      for (const [index, statistics] of STATISTICS.entries()) {
        const [before, after] = [small[index], large[index]];
        if (before === undefined || after === undefined) throw new TypeError('nothing was measured');
        const where = `${size.users} users, ${size.days} days, ${statistics}`;
        expect(after.emitted.statements.size).toBeGreaterThan(300);
        expect.soft(growing(before, after, LIMITS), where).toEqual([]);
        expect.soft(after.scans, where).toEqual([]);
      }
    }
  });
});
