import { sql } from '../../../schema/query.ts';
import { columnsOf, encoderOf, type RowOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { changeRows } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { commitDay, commitOf } from '../warehouse/commit-of.ts';

type UserRow = RowOf<typeof tables.userDaily>;
type Person = Pick<RowOf<typeof tables.people>, 'person' | 'valid_from' | 'valid_to' | 'team'>;
type Price = Omit<RowOf<typeof tables.prices>, 'org_id'>;

const ORG = 'org_1';
const SCOPE_COLUMNS = 2;

/** Stores a day of users, each with the columns given and NULL in the others. Without users the day is empty. */
export async function storeUsers(
  warehouse: Warehouse,
  day: string,
  users: readonly (Partial<UserRow> & Pick<UserRow, 'user_id'>)[],
): Promise<void> {
  const rows = users.map((user) => {
    const given = new Map(Object.entries(user));
    return columnsOf(tables.userDaily)
      .slice(SCOPE_COLUMNS)
      .map((name) => given.get(name) ?? null);
  });
  await commitDay(warehouse, commitOf({ stream: 'users', day, settled: true, rows: { user_daily: rows } }));
  if (users.length > 0) return;
  // A day settles as empty only where all its streams agree, which would need all of them here.
  await warehouse.transact('settle an empty day of', function* () {
    yield sql`UPDATE export_units SET state = 'empty' WHERE date = ${day} AND stream = 'users'`;
  });
}

/** Replaces the people, and brings the rollups up to date. */
export async function storePeople(warehouse: Warehouse, people: readonly Person[]): Promise<void> {
  const encode = encoderOf(tables.people);
  const rest = { org_id: ORG, name: null, department: null, cost_center: null, manager_email: null };
  const rows = people.map((person) => encode({ ...rest, ...person }));
  await changeRows(warehouse, { put: [{ table: tables.people, rows }], remove: [] });
  await refresh(warehouse);
}

/** Adds prices. */
export async function storePrices(warehouse: Warehouse, prices: readonly Price[]): Promise<void> {
  const encode = encoderOf(tables.prices);
  const rows = prices.map((price) => encode({ org_id: ORG, ...price }));
  await changeRows(warehouse, { put: [{ table: tables.prices, rows }], remove: [] });
}

/** Brings the rollups up to date. */
export async function refresh(warehouse: Warehouse): Promise<void> {
  await refreshRollups(warehouse, { orgId: ORG, now: new Date('2026-03-05T03:00:00.000Z') });
}
