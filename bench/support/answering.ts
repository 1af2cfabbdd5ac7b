import { sql } from '../../schema/query.ts';
import { encoderOf, type Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { systemClock } from '../../src/core/clock.ts';
import { FIRST_DAY, parseDay, shiftDay } from '../../src/core/day.ts';
import { changeRows } from '../../src/port/steps.ts';
import type { Warehouse } from '../../src/port/warehouse.ts';
import { refreshRollups } from '../../src/rollups/refresh.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Bench } from './bench.ts';
import { MAIN, runExport } from './daywalk.ts';
import type { Postgres } from './postgres.ts';
import { type Finished, runNode } from './process.ts';

/** A realistic organization: it grows, and most people work on most weekdays. */
export const ORGANIZATION = { users: 3_000, days: 310, steady: false };

/** How many of its people have a row on a day, on average. A test counts them. */
export const ACTIVE_A_DAY = 736;

/** Its size, for the titles of benchmarks. */
export const SIZE = sizeOf(1);

/** How many times as many people a warehouse has. */
export type Times = 1 | 4;

/** So many times as many people, or those of {@link ORGANIZATION} where everybody is active on each day. */
export type Activity = Times | 'daily';

/** The size of such a warehouse, for the titles of benchmarks and the names of measures. */
export function sizeOf(times: Activity): string {
  const { users, days } = organizationOf(times);
  return `${users.toLocaleString('en')} people (${activeOf(times)}) and ${days} days`;
}

/** How many are active on an average day. */
export function activeOf(times: Activity): string {
  if (times === 'daily') return 'each active every day';
  return times === 1 ? `${ACTIVE_A_DAY} active a day` : 'about 3,000 active a day';
}

function organizationOf(times: Activity): typeof ORGANIZATION {
  if (times === 'daily') return { ...ORGANIZATION, steady: true };
  return { ...ORGANIZATION, users: ORGANIZATION.users * times };
}

const TEAMS = 40;
/** Every so many people, one changes the team, on the day of the move. */
const MOVE_EVERY = 10;
const LAST_DAY_BEFORE_MOVE = parseDay('2026-05-31');
/** Every so many users, one is not in the list of people. */
const UNKNOWN_EVERY = 50;

const filled = new WeakMap<Bench, Map<string, Promise<string>>>();

/** What `make` returned for this benchmark session under a name: it is made once for all benchmarks. */
function once(bench: Bench, name: string, make: () => Promise<string>): Promise<string> {
  const known = filled.get(bench) ?? new Map<string, Promise<string>>();
  filled.set(bench, known);
  const made = known.get(name) ?? make();
  known.set(name, made);
  return made;
}

/** A SQLite warehouse of {@link ORGANIZATION}, so many times as large, with teams, moves and prices. */
export function filledFile(bench: Bench, times: Activity): Promise<string> {
  return once(bench, `file ${times}`, async () => {
    const service = await bench.service(organizationOf(times));
    const file = bench.path(`times-${times}.db`);
    const last = shiftDay(FIRST_DAY, ORGANIZATION.days - 1);
    await runExport(service, file, ['backfill', '--from', FIRST_DAY, '--until', last]);
    await withWarehouse(file, loadDimensions);
    return file;
  });
}

/** The same warehouse in both databases: where it is. */
export async function filledWarehouses(
  bench: Bench,
  postgres: Postgres,
  times: Activity = 1,
): Promise<{ readonly file: string; readonly location: string }> {
  const file = await filledFile(bench, times);
  const location = await once(bench, `schema ${times}`, async () => {
    const to = postgres.warehouse(await postgres.freshSchema());
    await copyTo(file, to);
    return to;
  });
  return { file, location };
}

/** Copies a warehouse in a process of its own. */
export function copyTo(from: string, to: string): Promise<Finished> {
  return runNode(MAIN, ['copy', '--to', to, '--json'], { env: { DAYWALK_WAREHOUSE: from } });
}

/** Opens a warehouse for the time of `use`. */
export async function withWarehouse<Result>(
  location: string,
  use: (warehouse: Warehouse) => Promise<Result>,
): Promise<Result> {
  const warehouse = await openWarehouse(location, { clock: systemClock(), create: false });
  try {
    return await use(warehouse);
  } finally {
    await warehouse.close();
  }
}

/** Gives a warehouse people and prices, and computes the rollups from them. */
export async function loadDimensions(warehouse: Warehouse): Promise<void> {
  const users = await warehouse.select(sql`SELECT org_id, user_id FROM users ORDER BY org_id, user_id`);
  const people = users.flatMap(({ org_id, user_id }, index) =>
    personRows(String(org_id), String(user_id), index),
  );
  const orgId = String(users[0]?.['org_id']);
  await changeRows(warehouse, {
    put: [
      { table: tables.people, rows: people },
      { table: tables.prices, rows: priceRows(orgId) },
    ],
    remove: [],
  });
  await refreshRollups(warehouse, { orgId, now: new Date() });
  await warehouse.refreshStatistics();
}

const encodePerson = encoderOf(tables.people);
const encodePrice = encoderOf(tables.prices);

function personRows(org_id: string, person: string, index: number): Values[] {
  if (index % UNKNOWN_EVERY === 0) return [];
  const period = (team: number, valid_from: string, valid_to: string | null) =>
    encodePerson({
      org_id,
      person,
      valid_from,
      valid_to,
      name: null,
      team: `team ${team % TEAMS}`,
      department: null,
      cost_center: null,
      manager_email: null,
    });
  if (index % MOVE_EVERY !== 0) return [period(index, FIRST_DAY, null)];
  return [
    period(index, FIRST_DAY, LAST_DAY_BEFORE_MOVE),
    period(index + 1, shiftDay(LAST_DAY_BEFORE_MOVE, 1), null),
  ];
}

function priceRows(org_id: string): Values[] {
  const price = (valid_from: string, valid_to: string | null, price_per_million: number) =>
    encodePrice({ org_id, valid_from, valid_to, currency: 'EUR', price_per_million });
  return [price(FIRST_DAY, LAST_DAY_BEFORE_MOVE, 3), price(shiftDay(LAST_DAY_BEFORE_MOVE, 1), null, 2.5)];
}
