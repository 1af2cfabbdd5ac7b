import type { AnyTable } from '../../schema/define.ts';
import { decodeRows, type EncodedRows, encodeRows } from '../../schema/digest.ts';
import { type SQL, sql } from '../../schema/query.ts';
import {
  columnsOf,
  inKeyOrder,
  pickerOf,
  positionsOf,
  type TableRows,
  type Value,
  type Values,
} from '../../schema/row.ts';
import { tables as schema } from '../../schema/tables.ts';
import { dayOf, daysBetween, isDay, notedDay } from '../core/day.ts';
import { canonicalText } from '../core/json-text.ts';
import { HELD_DAYS } from '../judge/agreement.ts';
import type { Warehouse } from '../port/index.ts';
import type { DayCommit, QuarantinedRecord, UnitName } from '../units/index.ts';
import type { NormalizedDay } from './commit.ts';
import type { HeldRow } from './normalize/records.ts';

type Reader = Pick<Warehouse, 'rowsOf'>;

/**
 * The day with the stored rows of every held key in place of the answered ones. Nothing is read if no key is held. What is
 * stored must not change until the result is committed, see `DayCommit.basedOn`.
 */
export async function withStoredRows(day: NormalizedDay, warehouse: Reader): Promise<NormalizedDay> {
  const { held } = day.findings;
  if (held.length === 0) return day;
  const tables: EncodedRows[] = [];
  let absentUsers = 0;
  for (const part of day.tables) {
    const { merged, stored } = await mergeStored(decodeRows(part), held, (table) =>
      storedOf(warehouse, table, day),
    );
    tables.push(merged === undefined ? part : encodeRows(merged));
    if (part.table === schema.userDaily) absentUsers = distinctKeys(held, part.table) - stored;
  }
  return { ...day, tables, absentUsers };
}

function storedOf(warehouse: Reader, table: AnyTable, { orgId, unit: { day } }: NormalizedDay) {
  return warehouse.rowsOf(table, { orgId, firstDay: day, lastDay: day });
}

/**
 * The rows of a table without those of held keys, and with the stored rows of these keys. `merged` is undefined if no held
 * key is in the table.
 */
export async function mergeStored(
  { table, rows }: TableRows,
  held: readonly HeldRow[],
  storedOf: (table: AnyTable) => Promise<readonly Values[]>,
): Promise<{ readonly merged?: TableRows; readonly stored: number }> {
  const isHeld = heldTest(table, held);
  if (isHeld === undefined) return { stored: 0 };
  const stored = (await storedOf(table)).filter(isHeld);
  const own = rows.filter((row) => !isHeld(row));
  return { merged: { table, rows: inKeyOrder(table, [...own, ...stored]) }, stored: stored.length };
}

/** As {@link withStoredRows}, for the tables of a page of readiness reports. */
export async function withStoredReports(
  tables: readonly TableRows[],
  held: readonly HeldRow[],
  { warehouse, orgId }: { readonly warehouse: Pick<Warehouse, 'select'>; readonly orgId: string },
): Promise<readonly TableRows[]> {
  if (held.length === 0) return tables;
  const ids = new Set(held.map(({ table, row }) => String(row[positionsOf(table, ['report_id'])[0] ?? 0])));
  const list = sql.join(
    [...ids].map((id) => sql`${id}`),
    sql`, `,
  );
  const storedOf = (table: AnyTable) =>
    selectRows(warehouse, table, sql`org_id = ${orgId} AND report_id IN (${list})`);
  return Promise.all(tables.map(async (part) => (await mergeStored(part, held, storedOf)).merged ?? part));
}

/** The rows of a table under a condition. */
export async function selectRows(
  warehouse: Pick<Warehouse, 'select'>,
  table: AnyTable,
  condition: SQL,
): Promise<Values[]> {
  const rows = await warehouse.select(sql`SELECT * FROM ${sql.identifier(table.name)} WHERE ${condition}`);
  return rows.map((row) => columnsOf(table).map((name) => storedValue(table, name, row[name] ?? null)));
}

/** PostgreSQL has another text for the same JSON. */
function storedValue(table: AnyTable, name: string, value: Value): Value {
  return table.columns[name]?.kind === 'json' && typeof value === 'string' ? canonicalText(value) : value;
}

/** Returns a test for rows whose key begins with a held one; undefined if the table has no such keys. */
function heldTest(table: AnyTable, held: readonly HeldRow[]): ((row: Values) => boolean) | undefined {
  const tests = new Map<AnyTable, Set<string>>();
  for (const { table: parent, row } of held) {
    if (!parent.key.every((name, index) => table.key[index] === name)) continue;
    const keys = tests.get(parent) ?? new Set();
    tests.set(parent, keys.add(keyText(parent, row)));
  }
  if (tests.size === 0) return undefined;
  const parts = [...tests].map(([parent, keys]) => ({ keys, pick: pickerOf(table, parent.key) }));
  return (row) => parts.some(({ keys, pick }) => keys.has(JSON.stringify(pick(row))));
}

function distinctKeys(held: readonly HeldRow[], table: AnyTable): number {
  return new Set(held.flatMap((own) => (own.table === table ? [keyText(table, own.row)] : []))).size;
}

/** The key of a row as text. Only the values of the key need to be in the row. */
function keyText(table: AnyTable, row: Values): string {
  return JSON.stringify(positionsOf(table, table.key).map((position) => row[position]));
}

/**
 * Marks held records as accepted if they have come unchanged for {@link HELD_DAYS} UTC days.
 * @returns the records, and the day on which the newest of them came; undefined if some of them cannot be read.
 */
export async function withAge(
  records: readonly QuarantinedRecord[],
  { warehouse, orgId, unit, now }: { warehouse: Reader; orgId: string; unit: UnitName; now: Date },
): Promise<Required<Pick<DayCommit, 'quarantined' | 'heldSince'>>> {
  if (!records.some(({ isHeld }) => isHeld === true)) return { quarantined: records, heldSince: undefined };
  const known = await firstSeen(warehouse, orgId, unit);
  const today = dayOf(now);
  const dayOfRecord = ({ recordSha256 }: QuarantinedRecord) => {
    const day = known.get(recordSha256)?.slice(0, 'YYYY-MM-DD'.length);
    return isDay(day) ? notedDay(day, today) : today;
  };
  const quarantined = records.map((record) => {
    const isOld = record.isHeld === true && daysBetween(dayOfRecord(record), today) >= HELD_DAYS;
    return isOld ? { ...record, acceptedAt: now.toISOString() } : record;
  });
  const isAllHeld = records.every(({ isHeld }) => isHeld === true);
  const newest = records.map(dayOfRecord).reduce((a, b) => (a > b ? a : b));
  return { quarantined, heldSince: isAllHeld ? newest : undefined };
}

async function firstSeen(warehouse: Reader, orgId: string, unit: UnitName): Promise<Map<string, string>> {
  const columns = ['stream', 'record_sha256', 'first_seen_at'] as const;
  const scope = { orgId, ...(unit.stream !== 'readiness' && { firstDay: unit.day, lastDay: unit.day }) };
  const rows = await warehouse.rowsOf(schema.quarantine, scope, columns);
  const own = rows.filter(([stream]) => stream === unit.stream);
  return new Map(own.map(([, sha256, since]) => [String(sha256), String(since)]));
}
