import { parseDay } from '../../../src/core/day.ts';
import type { Rig } from '../rig/rig.ts';
import { lie, nightsOf } from '../trust/run-nights.ts';
import type { Database } from '../warehouse/each-database.ts';

const day = (date: string) => parseDay(`2026-01-${date}`);

/** One day in each state that a unit can have; all other days up to 23 January are loaded, except for Sunday the 18th, which is empty. */
export const DAYS = {
  pending: day('15'),
  quarantined: day('16'),
  empty: day('17'),
  restated: day('19'),
  doubted: day('20'),
  failed: day('21'),
  awaiting: day('22'),
  open: day('23'),
} as const;

/** What the service sends instead of a number of users, and must not appear on pages for others than managers. */
export const BAD_VALUE = 'eve@example.com';

/**
 * Five nights of a service with trouble. In `activity`, one day is in each state, see {@link DAYS}; in `users`, 16 January
 * has a record in quarantine; 19 January is restated in all streams.
 */
export async function everyState(database: Database): Promise<Rig> {
  const rig = await nightsOf(database, { users: 15, reports: 12 });
  const night = async (now: string, lateDays: readonly (keyof typeof DAYS)[]) => {
    lie(rig, { lateDays: lateDays.map((name) => DAYS[name]) });
    await rig.run({ now: day(now), settings: { rangeDays: 1, watchDays: 0 } });
  };
  const operations = [{ op: 'set' as const, path: '/data/0/tool_calls', value: BAD_VALUE }];
  rig.emulator.setRules([
    { match: { stream: 'users', day: DAYS.quarantined }, action: { type: 'patch', operations } },
    {
      match: { stream: 'activity', day: DAYS.failed },
      action: { type: 'status', status: 422, detail: `no such user ${BAD_VALUE}` },
    },
  ]);
  await night('20', ['empty']);
  rig.emulator.revise({ kind: 'restate', day: DAYS.restated });
  await night('21', ['empty']);
  await night('22', ['empty', 'doubted']);
  await night('23', ['empty', 'doubted', 'awaiting']);
  await night('24', ['empty', 'doubted', 'awaiting']);
  await rig.place.execute(`DELETE FROM export_units WHERE stream = 'activity' AND date = '${DAYS.pending}'`);
  return rig;
}
