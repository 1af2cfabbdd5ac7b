import { sql } from '../../schema/query.ts';
import { tables, tablesOf } from '../../schema/tables.ts';
import type { UtcDay } from '../core/day.ts';
import type { Steps, Warehouse } from '../port/index.ts';
import { dayKey } from '../units/index.ts';
import { lockOf, readUnitRows, unitRows } from './ledger.ts';
import { applyExpiry } from './transitions.ts';

/** Tables of the ledger with texts about a unit. */
const ABOUT_UNITS = [tables.quarantine, tables.restatements];

/**
 * Removes the rows of `users` of a day, with their restatements and records in quarantine, and marks the day as expired, all or nothing.
 * Rows about people in other streams pass the gate before. May be repeated.
 * @param at when, as an ISO instant
 */
export function expireDay(
  warehouse: Pick<Warehouse, 'transact'>,
  orgId: string,
  { day, at }: { readonly day: UtcDay; readonly at: string },
): Promise<void> {
  const steps = function* (): Steps<void> {
    yield lockOf(orgId, [day]);
    for (const table of tablesOf('users'))
      yield sql`DELETE FROM ${sql.identifier(table.name)} WHERE org_id = ${orgId} AND date = ${day}`;
    for (const table of ABOUT_UNITS)
      yield sql`DELETE FROM ${sql.identifier(table.name)}
        WHERE org_id = ${orgId} AND stream = 'users' AND date = ${day}`;
    const units = yield* readUnitRows([dayKey(orgId, { stream: 'users', day })]);
    const open = units.filter(({ state }) => state !== 'expired');
    yield unitRows(open.map((unit) => applyExpiry(unit, at)));
  };
  return warehouse.transact('remove expired people from', steps, 'latest');
}
