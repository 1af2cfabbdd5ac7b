// @module-tag database-specific

import { expect, it } from 'vitest';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { serve } from '../../support/dashboard/serve.ts';
import { createRig } from '../../support/rig/rig.ts';
import { needsSessions, onDatabase, open } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const TODAY = '2026-02-20';
const PERIOD = '/?from=2026-01-14&until=2026-02-19';
/** The pages of one run; it ends long before. */
const PAGES_MAX = 2_000;

// SQLite reads a page without a pause, so in one process nothing can be committed in between.
onDatabase(postgres, () => {
  it('every page that is read during a run is of one snapshot', { tags: 'ci/rare' }, async () => {
    needsSessions(postgres);
    const rig = await createRig({ today: TODAY, users: 10 }, { database: postgres });
    // The warehouse exists before the run, as after an installation.
    await (await open(rig.place)).close();
    const served = await serve(rig.place, { clock: new FakeClock({ now: `${TODAY}T03:00:00Z` }) });
    let isRunning = true;
    // One request per day, so that commits come all the time.
    const run = rig.run({ settings: { rangeDays: 1, concurrency: 2 } }).finally(() => {
      isRunning = false;
    });
    const seen = new Set<number>();
    for (let count = 0; isRunning && count < PAGES_MAX; count += 1) {
      const { status, body } = await served.ask(PERIOD);
      expect(status).toBe(200);
      const total = creditsOf(body);
      if (total === undefined) continue;
      seen.add(total);
      expect(creditsPerDay(body)).toBeCloseTo(total, 3);
    }
    await run;
    const { body } = await served.ask(PERIOD);
    expect(creditsOf(body)).toBe(await rig.value('SELECT SUM(billable_tokens) FROM user_daily'));
    expect(creditsPerDay(body)).toBeCloseTo(creditsOf(body) ?? Number.NaN, 3);
    expect(seen.size).toBeGreaterThan(2);
    expect(served.failures).toEqual([]);
  });
});

const CREDITS = /<data value="([^"]+)" data-formula="q\d+\[0\]\.billable_tokens"/;
const DAY = /<data value="([^"]+)" data-formula="q\d+\[\d+\]\.value"/g;

/** The headline; undefined while no day is stored. */
function creditsOf(body: string): number | undefined {
  const found = CREDITS.exec(body)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** The sum of the table of days, which comes from another statement. */
function creditsPerDay(body: string): number {
  const [, figure = ''] = body.split('id="credits-per-day"');
  const [own = ''] = figure.split('</section>');
  return [...own.matchAll(DAY)].reduce((sum, [, value]) => sum + Number(value), 0);
}
