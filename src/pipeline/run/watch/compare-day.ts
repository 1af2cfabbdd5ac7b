import { TRAILING_COLUMNS } from '../../../../schema/active.ts';
import type { AnyTable } from '../../../../schema/define.ts';
import { columnsOf, pickerOf } from '../../../../schema/row.ts';
import { activityDaily, activityDailyByClient } from '../../../../schema/tables/activity.ts';
import type { Seen } from '../../../judge/watch.ts';
import { decodeRows, type LedgerDay, type Values, type Warehouse } from '../../../warehouse/port.ts';
import { isActive, type NormalizedDay } from '../../commit.ts';

const isTrailing = (name: string) => TRAILING_COLUMNS.has(name);

/** Compares the answer for a settled day with the stored rows. Returns the difference; null if there is none. */
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
 * True if a day without activity still has none: no row means the same as a row of zeros. But an idle day may also have
 * counts over trailing days, and these must not get lost.
 */
function isStillIdle(unit: LedgerDay, { tables }: NormalizedDay): boolean {
  if (unit.state !== 'empty' || isActive(tables)) return false;
  const isWithoutRows = tables.every(({ count }) => count === 0);
  return isWithoutRows || (unit.rows === 0 && !hasTrailing(tables));
}

function hasTrailing(tables: NormalizedDay['tables']): boolean {
  const activity = tables.find(({ table }) => table === activityDaily);
  if (activity === undefined) return false;
  const trailing = pickerOf(activityDaily, columnsOf(activityDaily).filter(isTrailing));
  return decodeRows(activity).rows.some((row) => trailing(row).some((value) => (value ?? 0) !== 0));
}

async function differsInTrailingOnly(
  warehouse: Pick<Warehouse, 'rowsOf'>,
  { orgId, unit: { stream, day }, tables }: NormalizedDay,
): Promise<boolean> {
  if (stream !== 'activity') return false;
  for (const table of [activityDaily, activityDailyByClient]) {
    const others = pickerOf<AnyTable>(
      table,
      columnsOf<AnyTable>(table).filter((name) => !isTrailing(name)),
    );
    const textOf = (rows: readonly Values[]) => JSON.stringify(rows.map(others));
    const stored = await warehouse.rowsOf(table, { orgId, firstDay: day, lastDay: day });
    const answered = tables.find((part) => part.table === table);
    if (textOf(stored) !== textOf(answered === undefined ? [] : decodeRows(answered).rows)) return false;
  }
  return true;
}
