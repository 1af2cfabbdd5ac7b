import { type SQL, sql } from '../../schema/query.ts';
import { tablesOf } from '../../schema/tables.ts';
import { daysFrom, isDay, shiftDay, type UtcDay } from '../core/day.ts';
import type { Steps } from '../port/index.ts';
import { columnKind } from '../privacy/index.ts';

/** The tables with rows about one person and one day. */
const OF_PERSONS = [...tablesOf('users'), ...tablesOf('tokens')].filter((table) =>
  table.key.some((name) => columnKind(name) === 'id'),
);
/** Which people have expired: those of an organization, of all days before one. */
export interface ExpiryScope {
  readonly orgId: string;
  /** The first day whose people are kept. */
  readonly before: UtcDay;
}

/** The rows about one person of days that have expired. */
export function* countExpiredRows(scope: ExpiryScope): Steps<number> {
  let counted = 0;
  for (const table of OF_PERSONS) {
    const [row] =
      yield sql`SELECT COUNT(*) AS found FROM ${sql.identifier(table.name)} WHERE ${isExpired(scope)}`;
    counted += Number(row?.['found'] ?? 0);
  }
  return counted;
}

/**
 * The days whose people are to expire, oldest first: those that are not marked so, and those that have rows about a person all the same.
 * @param firstDay from here on, days that were never pulled expire too; null if users are not expected
 */
export function* readExpiringDays(scope: ExpiryScope, firstDay: UtcDay | null): Steps<UtcDay[]> {
  const { orgId, before } = scope;
  const units = yield sql`
    SELECT date, state FROM export_units WHERE org_id = ${orgId} AND stream = 'users' AND date < ${before}`;
  const days = new Set<unknown>(units.flatMap(({ date, state }) => (state === 'expired' ? [] : [date])));
  if (firstDay !== null && firstDay < before) {
    const known = new Set<unknown>(units.map(({ date }) => date));
    for (const day of daysFrom(firstDay, shiftDay(before, -1))) if (!known.has(day)) days.add(day);
  }
  for (const table of OF_PERSONS) {
    const name = sql.identifier(table.name);
    const rows = yield sql`SELECT DISTINCT CAST(date AS TEXT) AS day FROM ${name} WHERE ${isExpired(scope)}`;
    for (const { day } of rows) days.add(day);
  }
  return [...days].filter(isDay).toSorted();
}

function isExpired({ orgId, before }: ExpiryScope): SQL {
  return sql`org_id = ${orgId} AND date < ${before}`;
}
