import { activityDaily, activityDailyByClient } from '../../../../schema/tables/activity.ts';
import type { Seen } from '../../../judge/watch.ts';
import { decodeRows, type LedgerDay, type Row, type Warehouse } from '../../../warehouse/port.ts';
import { isActive, type NormalizedDay } from '../../commit.ts';

/** Columns that count over trailing days: they change for a month after a day that was restated. */
const TRAILING = new Set(['weekly_active_users', 'monthly_active_users']);

/** How the answer to a settled day differs from what is stored; null where it does not. */
export async function compareSettledDay(
  warehouse: Pick<Warehouse, 'rowsOf'>,
  unit: LedgerDay,
  { day, contentSha256 }: { readonly day: NormalizedDay; readonly contentSha256: string },
): Promise<Seen> {
  if (contentSha256 === unit.contentSha256 || isStillIdle(unit, day)) return null;
  const trailing = await differsInTrailingOnly(warehouse, day);
  return { sha256: contentSha256, by: 'rows', ...(trailing ? { trailing } : {}) };
}

/**
 * True for a day without activity that still has none. No row and a row of zeros mean the same. But an idle day has counts
 * over trailing days too, and those must not get lost.
 */
function isStillIdle(unit: LedgerDay, { tables }: NormalizedDay): boolean {
  if (unit.state !== 'empty' || isActive(tables)) return false;
  const isWithoutRows = tables.every(({ count }) => count === 0);
  return isWithoutRows || (unit.rows === 0 && !hasTrailing(tables));
}

function hasTrailing(tables: NormalizedDay['tables']): boolean {
  const activity = tables.find(({ table }) => table === activityDaily);
  if (activity === undefined) return false;
  const trailing = positionsOf(activityDaily, (name) => TRAILING.has(name));
  return decodeRows(activity).rows.some((row) => trailing.some((position) => (row[position] ?? 0) !== 0));
}

async function differsInTrailingOnly(
  warehouse: Pick<Warehouse, 'rowsOf'>,
  { orgId, unit: { stream, day }, tables }: NormalizedDay,
): Promise<boolean> {
  if (stream !== 'activity') return false;
  for (const table of [activityDaily, activityDailyByClient]) {
    const others = positionsOf(table, (name) => !TRAILING.has(name));
    const textOf = (rows: readonly Row[]) =>
      JSON.stringify(rows.map((row) => others.map((position) => row[position])));
    const stored = await warehouse.rowsOf(table, { orgId, firstDay: day, lastDay: day });
    const answered = tables.find((part) => part.table === table);
    if (textOf(stored) !== textOf(answered === undefined ? [] : decodeRows(answered).rows)) return false;
  }
  return true;
}

function positionsOf(table: { readonly columns: object }, isMeant: (name: string) => boolean): number[] {
  return Object.keys(table.columns).flatMap((name, position) => (isMeant(name) ? [position] : []));
}
