import { encoderOf, type Values } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { daysFrom, FIRST_DAY, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { changeRows } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { FakeClock } from '../clock/fake-clock.ts';
import { commitOf } from '../warehouse/commit-of.ts';

/** How large a warehouse is. All users are active every day. */
export interface Size {
  readonly users: number;
  readonly days: number;
}

export const SMALL: Size = { users: 150, days: 40 };
/** Four times the rows: by users, and by days. */
export const LARGE: readonly Size[] = [
  { users: 600, days: 40 },
  { users: 150, days: 160 },
];

export const ORG = 'org_1';

const TEAMS = 12;
/** So many users and one more have a second period, in another team. */
const MOVE_EVERY = 10;

/** The last stored day. */
export const lastDayOf = ({ days }: Size): UtcDay => shiftDay(FIRST_DAY, days - 1);

/** The present: the morning after the last stored day. */
export const nowOf = (size: Size): Date => new Date(`${shiftDay(lastDayOf(size), 1)}T03:00:00Z`);

const userId = (number: number) => `user_${String(number).padStart(6, '0')}`;

/** The commit of a day of users. `more` users are new, so that it differs from the one that is stored. */
export function usersDay({ users }: Size, day: UtcDay, more = 0) {
  const number = Number(day.slice(8));
  const rows = Array.from({ length: users + more }, (_, n): Values => {
    const own = (n * 7 + number) % 50;
    const [id, tier] = [userId(n), n % 3 === 0 ? 'thinking' : 'standard'];
    return [id, `${id}@example.com`, own, own * 100, 'm-1', tier, ...Array(12).fill(own), 0.5, 'low', null];
  });
  const languages = rows.flatMap(([id = null], n): Values[] => [
    [id, 'typescript', null],
    [id, ['go', 'python', 'sql'][n % 3] ?? '', null],
  ]);
  return commitOf({
    stream: 'users',
    day,
    orgId: ORG,
    rows: { user_daily: rows, user_daily_languages: languages },
  });
}

function tokensDay({ users }: Size, day: UtcDay) {
  const five = [100, 10, 20, 30, 40];
  const ids = Array.from({ length: users }, (_, n) => userId(n));
  return commitOf({
    stream: 'tokens',
    day,
    orgId: ORG,
    rows: {
      tokens_daily: [[...five.map((each) => each * users), null]],
      tokens_daily_by_model: [['m-1', 'standard', ...five.map((each) => each * users), null]],
      tokens_daily_by_user: ids.map((id) => [id, `${id}@example.com`, ...five, null]),
      tokens_daily_by_user_model: ids.map((id) => [id, 'm-1', 'standard', ...five, null]),
    },
  });
}

/** Fills a new warehouse with days, people, prices and current rollups. */
export async function fill(warehouse: Warehouse, size: Size): Promise<void> {
  for (const day of daysFrom(FIRST_DAY, lastDayOf(size)))
    await warehouse.commitDays([usersDay(size, day), tokensDay(size, day)]);
  const person = encoderOf(tables.people);
  const rest = { name: null, department: null, cost_center: null, manager_email: null };
  const people = Array.from({ length: size.users }, (_, n) => {
    const moves = n % MOVE_EVERY === 0;
    const own = { org_id: ORG, person: `${userId(n)}@example.com`, ...rest };
    const first = { valid_from: FIRST_DAY, valid_to: moves ? shiftDay(FIRST_DAY, 19) : null };
    const rows = [person({ ...own, ...first, team: `team ${n % TEAMS}` })];
    if (moves) {
      const second = { valid_from: shiftDay(FIRST_DAY, 20), valid_to: null };
      rows.push(person({ ...own, ...second, team: `team ${(n + 1) % TEAMS}` }));
    }
    return rows;
  }).flat();
  const price = encoderOf(tables.prices)({
    ...{ org_id: ORG, valid_from: FIRST_DAY, valid_to: null, currency: 'EUR', price_per_million: 3 },
  });
  const put = [
    { table: tables.people, rows: people },
    { table: tables.prices, rows: [price] },
  ];
  await changeRows(warehouse, { put, remove: [] });
  await refreshRollups(warehouse, { orgId: ORG, now: nowOf(size) });
}

/** Opens a warehouse for the time of `work`, on the morning after its last day. */
export async function using<Result>(
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
