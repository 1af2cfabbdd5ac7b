import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { exportInto, withLockedWarehouse } from '../../../jobs/run.ts';
import { parseDay } from '../../../src/core/day.ts';
import { contextOf } from '../../support/rig/rig.ts';
import { lie, nights, nightsOf, unitOf } from '../../support/trust/run-nights.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const DAY = parseDay('2026-01-15');
const REQUEST = { command: 'run', force: false, newestFirst: false, wait: false };
/** How long the news of a commit may wait for the doubt. */
const WAIT_MS_MAX = 20_000;

test('a doubt that is stored between a commit of its day and the news of that commit decides the exit code', async () => {
  // Nothing has settled yet, so that nothing but the doubt is open.
  const rig = await nightsOf(sqlite, { users: 40 });
  lie(rig, { someUsers: { share: 0.5, streams: ['activity'], days: [DAY] } });
  await nights(rig, '2026-01-16', '2026-01-16');
  // The new count of people changes what the ledger notes beside the users, so that the commit gives their unit back, too.
  lie(rig, { someUsers: { share: 0.33, streams: ['users'], days: [DAY] } });
  // Days that are requested one by one are doubted at once, while the others are committed.
  const settings = { ...rig.settings, rangeDays: 1 };
  const doubted = Promise.withResolvers<string>();
  const context = contextOf(parseDay('2026-01-17'), (event) => {
    if (event.type === 'unit-doubted') doubted.resolve('doubted');
  });
  const told: string[] = [];
  const report = await withLockedWarehouse(settings, REQUEST, context, (place) => {
    const { warehouse } = place;
    const tellingLate: typeof warehouse = {
      ...warehouse,
      commitDays: async (commits) => {
        const outcomes = await warehouse.commitDays(commits);
        if (commits.some(({ stream, day }) => stream === 'activity' && day === DAY))
          told.push(
            await Promise.race([doubted.promise, setTimeout(WAIT_MS_MAX, 'too late', { ref: false })]),
          );
        return outcomes;
      },
    };
    return exportInto({ ...place, warehouse: tellingLate }, settings, REQUEST, context);
  });
  expect(told).toEqual(['doubted']);
  expect(await unitOf(rig, 'users', DAY)).toMatchObject({ state: 'doubted' });
  expect(report).toMatchObject({ exitCode: 5, unitsDoubted: 1 });
});
