// @module-tag campaign/plans

import { expect, test } from 'vitest';
import { actAll, STATISTICS } from '../../support/plans/activities.ts';
import { growing, type Limits, type Measured } from '../../support/plans/emitted.ts';
import { emittedToPostgres, explain } from '../../support/plans/postgres-plans.ts';
import { fill, type Size, using } from '../../support/plans/world.ts';
import { needsSessions, onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

/** Half of the users of the campaign on SQLite: rows are counted, and not timed. */
const SMALL: Size = { users: 75, days: 40 };
const LARGE: readonly Size[] = [
  { users: 300, days: 40 },
  { users: 75, days: 160 },
];

/** Rows are counted, so the limit is near the share of four times. Steps that pass on fewer rows read what does not grow. */
const LIMITS: Limits = { factor: 6, least: 2_000 };

/** Statements that pass on more than their share where there are more days, and why. */
const KNOWN: readonly RegExp[] = [
  // The small warehouse lacks days of the span that these pages compare with.
  / page \/(?:models|output)/,
  // The small warehouse has one whole month of users that is not stale, the large one five.
  / page \/teams\/:subject, stale: /,
  // Each day of a month with the days before it, by the rows of the organization.
  / view month_forecast/,
  // Each week and month in a statement of its own; the first ones are short.
  / verify.*: WITH computed /,
  // Each published week with the facts of all weeks, before the tables are measured.
  / publish weeks: SELECT DISTINCT p\.week_start /,
];

/** What PostgreSQL did with a warehouse of a size, without statistics and with them. */
async function measured(size: Size): Promise<Measured[]> {
  const place = await postgres.migrated();
  await explain(place);
  await using(place.location, size, (warehouse) => fill(warehouse, size));
  const seen: Measured[] = [];
  for (const statistics of STATISTICS) {
    if (statistics === 'with statistics') await place.execute('ANALYZE');
    const copyTo = await postgres.migrated();
    await explain(copyTo);
    const emitted = await emittedToPostgres((own) =>
      using(place.location, size, (warehouse) => actAll(warehouse, { size, emitted: own, copyTo })),
    );
    seen.push({ emitted });
  }
  return seen;
}

onDatabase(postgres, () => {
  test('the steps of no statement pass more than six times the rows on four times the rows', async () => {
    needsSessions(postgres);
    const small = await measured(SMALL);
    for (const size of LARGE) {
      const large = await measured(size);
      for (const [index, statistics] of STATISTICS.entries()) {
        const [before, after] = [small[index], large[index]];
        if (before === undefined || after === undefined) throw new TypeError('nothing was measured');
        const where = `${size.users} users, ${size.days} days, ${statistics}`;
        expect(after.emitted.statements.size).toBeGreaterThan(300);
        const known = size.days === SMALL.days ? [] : KNOWN;
        const found = growing(before, after, LIMITS);
        expect
          .soft(
            found.filter((name) => !known.some((one) => one.test(name))),
            where,
          )
          .toEqual([]);
      }
    }
  });
});
