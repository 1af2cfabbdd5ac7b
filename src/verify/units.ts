import { ContentHash, contentSha256 } from '../../schema/digest.ts';
import { tablesOf } from '../../schema/tables.ts';
import { daysBetween, daysFrom, type UtcDay } from '../core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../core/stream.ts';
import type { LedgerUnit, Warehouse } from '../warehouse/port.ts';
import type { FindingList } from './finding.ts';
import { type StoredDay, storedDays } from './stored-days.ts';

/** What a check of the units went through. */
export interface UnitsChecked {
  readonly units: number;
  readonly rows: number;
}

/**
 * Makes sure that every unit holds exactly the rows that the ledger says: none changed, none missing, none beside them.
 * `onDay` is handed each stored day on the way.
 */
export async function checkUnits(
  warehouse: Warehouse,
  findings: FindingList,
  onDay: (stream: DailyStream, stored: StoredDay) => void,
): Promise<UnitsChecked> {
  const ledger: LedgerUnit[] = [];
  for (const orgId of await warehouse.organizations()) ledger.push(...(await warehouse.units(orgId)));
  let rows = 0;
  for (const stream of DAILY_STREAMS) {
    const units = new Map(
      ledger.filter((unit) => unit.stream === stream).map((unit) => [nameOf(unit), unit]),
    );
    for await (const stored of storedDays(warehouse, stream)) {
      const unit = units.get(nameOf(stored));
      units.delete(nameOf(stored));
      rows += stored.tables.reduce((sum, part) => sum + part.rows.length, 0);
      checkDay(stream, stored, unit, findings);
      onDay(stream, stored);
    }
    // What the ledger has and no table has a row of.
    for (const unit of units.values()) checkDay(stream, withoutRows(unit), unit, findings);
    checkCalendar(
      ledger.filter((unit) => unit.stream === stream),
      findings,
    );
  }
  for (const unit of ledger.filter(({ stream }) => stream === 'readiness')) {
    rows += await checkReadiness(warehouse, unit, findings);
  }
  return { units: ledger.length, rows };
}

function nameOf({ orgId, day }: { readonly orgId: string; readonly day: string }): string {
  return JSON.stringify([orgId, day]);
}

function withoutRows({ orgId, stream, day }: LedgerUnit): StoredDay {
  return { orgId, day, tables: tablesOf(stream).map((table) => ({ table, rows: [] })) };
}

function checkDay(
  stream: DailyStream,
  { orgId, day, tables }: StoredDay,
  unit: LedgerUnit | undefined,
  findings: FindingList,
): void {
  const at = { severity: 'broken', orgId, stream, day } as const;
  const rows = tables.reduce((sum, part) => sum + part.rows.length, 0);
  if (unit === undefined) {
    findings.add({ ...at, what: 'rows of a day that the ledger does not know', expected: 0, found: rows });
    return;
  }
  // A unit that was never loaded has no digest, and must have no rows.
  const found = unit.contentSha256 === null && rows === 0 ? null : contentSha256(tables);
  if (found !== unit.contentSha256) {
    findings.add({ ...at, what: 'SHA-256 of the stored rows', expected: unit.contentSha256, found });
  }
  if (unit.contentSha256 !== null && rows !== unit.rows) {
    findings.add({ ...at, what: 'number of stored rows', expected: unit.rows, found: rows });
  }
}

/** Between the first and the last day of a stream every day is in the ledger, in whatever state. */
function checkCalendar(units: readonly LedgerUnit[], findings: FindingList): void {
  const byOrg = new Map<string, UtcDay[]>();
  for (const { orgId, day } of units) {
    if (day !== '') byOrg.set(orgId, [...(byOrg.get(orgId) ?? []), day]);
  }
  for (const [orgId, days] of byOrg) {
    const sorted = days.toSorted();
    const [first] = sorted;
    const last = sorted.at(-1);
    const stream = units[0]?.stream ?? 'tokens';
    if (first === undefined || last === undefined || daysBetween(first, last) + 1 === days.length) continue;
    const held = new Set<string>(days);
    for (const day of daysFrom(first, last)) {
      if (held.has(day)) continue;
      const what = 'a day between others that was never pulled';
      findings.add({ severity: 'broken', orgId, stream, day, what, expected: 'a unit', found: null });
    }
  }
}

/** The readiness reports are one unit; while a walk is under way it has no digest. Answers the rows. */
async function checkReadiness(
  warehouse: Warehouse,
  unit: LedgerUnit,
  findings: FindingList,
): Promise<number> {
  const hash = new ContentHash();
  let rows = 0;
  for (const table of tablesOf('readiness')) {
    hash.begin(table);
    for await (const chunk of warehouse.scan(table, { orgId: unit.orgId })) {
      hash.add(chunk);
      rows += chunk.length;
    }
  }
  const found = hash.hex();
  const at = { severity: 'broken', orgId: unit.orgId, stream: 'readiness', day: '' } as const;
  if (unit.contentSha256 !== null && found !== unit.contentSha256) {
    findings.add({ ...at, what: 'SHA-256 of the stored rows', expected: unit.contentSha256, found });
  }
  if (rows !== unit.rows)
    findings.add({ ...at, what: 'number of stored rows', expected: unit.rows, found: rows });
  return rows;
}
