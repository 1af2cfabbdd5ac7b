import { daysFrom, parseDay, type UtcDay } from '../../../src/core/day.ts';
import type { Lies } from '../../../src/emulator/quirks.ts';
import { begin } from '../rig/exported-rig.ts';
import { createRig, type Ran, type Rig, type RunRequest } from '../rig/rig.ts';
import type { Database } from '../warehouse/each-database.ts';

/** The service has data up to the day before this one; the nights before it see less. */
const LAST_NIGHT = parseDay('2026-03-25');

/** A service whose answers can lie, and nightly runs against it. */
export function nightsOf(
  database: Database,
  options: { readonly users?: number; readonly reports?: number; readonly today?: UtcDay } = {},
): Promise<Rig> {
  return createRig({ today: LAST_NIGHT, users: 15, reports: 0, ...options }, { database });
}

/** The same after its first nights, whose requests are forgotten. */
export async function afterNights(
  database: Database,
  [first, last]: readonly [first: string, last: string],
  options: Parameters<typeof nightsOf>[1] = {},
): Promise<Rig> {
  const rig = await nightsOf(database, options);
  await begin(rig, ['nights', first, last, options], () => nights(rig, first, last));
  return rig;
}

/** Makes the service lie in these ways, and in no other. */
export function lie(rig: Rig, lies: Lies = {}): void {
  rig.emulator.setQuirks({ lies });
}

/** Runs at 03:00 UTC of every day from one to another. Answers what each did. */
export async function nights(
  rig: Rig,
  first: string,
  last: string,
  request: RunRequest = {},
): Promise<Ran[]> {
  const ran: Ran[] = [];
  for (const now of daysFrom(parseDay(first), parseDay(last))) ran.push(await rig.run({ ...request, now }));
  return ran;
}

/** What the ledger says of a unit. */
export async function unitOf(rig: Rig, stream: string, day: string) {
  const [unit] = await rig.sql<Record<string, string | number | null>>(
    'SELECT state, rows, settled_at, confirmed, doubted_at, doubt FROM export_units WHERE stream = ? AND date = ?',
    stream,
    day,
  );
  return unit;
}
