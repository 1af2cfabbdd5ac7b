import { ContentHash } from '../../../schema/digest.ts';
import { tables } from '../../../schema/tables.ts';
import { keyValues, UNIT_COLUMNS } from '../ledger-rows.ts';
import { applyPage, applyWalkEnd } from '../ledger-transitions.ts';
import {
  type CommitOutcome,
  type LedgerReadiness,
  type ReadinessPageCommit,
  type ReadinessWalkEnd,
  readinessKey,
  type TableRows,
  type Values,
} from '../port.ts';
import { comparePage, isDigestKnown, READINESS_TABLES, rowsByReport } from '../readiness-page.ts';
import type { Connection } from './connection.ts';
import { addQuarantine, noteDrift, readUnit, sumsOf, writeRestatement, writeUnit } from './ledger.ts';
import { deleteScope, replaceScope, type Scope, selectRows } from './rows.ts';

/** Rows that are hashed at once. */
const CHUNK_ROWS = 1000;

function orgScope(orgId: string): Scope {
  return { columns: ['org_id'], values: [orgId] };
}

function reportScope(orgId: string, reportId: string): Scope {
  return { columns: ['org_id', 'report_id'], values: [orgId, reportId] };
}

/** Finds the reports of `page` that are stored with the same content, see `Warehouse.knownReports`. */
export function knownReports(
  connection: Connection,
  orgId: string,
  page: readonly TableRows[],
): ReadonlySet<string> {
  return comparePage(page, storedPage(connection, orgId, page)).known;
}

/** Stores a page of reports, see `Warehouse.commitReadinessPage`. Call inside a transaction. */
export function commitReadinessPage(connection: Connection, page: ReadinessPageCommit): CommitOutcome {
  const { orgId, pulledAt } = page;
  const before = readUnit(connection, readinessKey(orgId));
  const { reports, restated } = comparePage(page.tables, storedPage(connection, orgId, page.tables));
  const sums = restated ? sumsOfAll(connection, orgId) : '';
  let rowsWritten = 0;
  for (const [reportId, parts] of reports) {
    for (const { table, rows } of parts) {
      rowsWritten += replaceScope(connection, { table, chunks: [rows] }, reportScope(orgId, reportId));
    }
  }
  if (restated) writeRestatement(connection, before, pulledAt, sums, sumsOfAll(connection, orgId));
  addQuarantine(connection, before, page.quarantined, pulledAt);
  noteDrift(connection, before, page.drift, pulledAt.toISOString().slice(0, 10));
  const rows = rowsWritten > 0 ? countRows(connection, orgId) : before.rows;
  const unit = applyPage(before, page, { rows, rowsWritten });
  writeUnit(connection, unit);
  return { rowsWritten, restated, units: [unit] };
}

/** Ends a walk, see `Warehouse.endReadinessWalk`. Call inside a transaction. */
export function endReadinessWalk(connection: Connection, end: ReadinessWalkEnd): CommitOutcome {
  const { orgId, pulledAt, seenReportIds: seen } = end;
  const before = readUnit(connection, readinessKey(orgId));
  const gone = seen === null ? [] : storedReports(connection, orgId).filter((id) => !seen.has(id));
  const restated = gone.length > 0;
  const sums = restated ? sumsOfAll(connection, orgId) : '';
  const rowsWritten = gone.reduce((sum, reportId) => sum + deleteReport(connection, orgId, reportId), 0);
  if (restated) writeRestatement(connection, before, pulledAt, sums, sumsOfAll(connection, orgId));
  const quarantined = settleQuarantine(connection, before, end.seenQuarantine);
  const { rows, contentSha256 } = isDigestKnown(before, rowsWritten)
    ? before
    : { rows: countRows(connection, orgId), contentSha256: digestOf(connection, orgId) };
  const unit = applyWalkEnd(before, end, { rows, contentSha256, rowsWritten, quarantined });
  writeUnit(connection, unit);
  return { rowsWritten, restated, units: [unit] };
}

/** The stored rows of the reports of a page, by table and in key order. */
function storedPage(connection: Connection, orgId: string, page: readonly TableRows[]): TableRows[] {
  const ids = [...rowsByReport(page).keys()];
  return page.map(({ table }) => {
    const read = connection.prepareRows(selectRows(table, ['org_id', 'report_id']));
    return { table, rows: ids.flatMap((id) => read.all(orgId, id) as Values[]) };
  });
}

function sumsOfAll(connection: Connection, orgId: string): string {
  return sumsOf(connection, READINESS_TABLES, { ...orgScope(orgId), sha256: null });
}

/** The IDs of all stored reports, see `Warehouse.reportIds`. */
export function storedReports(connection: Connection, orgId: string): string[] {
  const stored = connection
    .prepareRows('SELECT report_id FROM "readiness_reports" WHERE org_id = ?')
    .all(orgId);
  return (stored as [string][]).map(([id]) => id);
}

function countRows(connection: Connection, orgId: string): number {
  return READINESS_TABLES.reduce((sum, { name }) => {
    const count = connection.prepareRows(`SELECT COUNT(*) FROM "${name}" WHERE "org_id" = ?`).get(orgId);
    return sum + (Array.isArray(count) ? Number(count[0]) : 0);
  }, 0);
}

/** The digest of all reports, streamed: there may be millions of criteria. */
function digestOf(connection: Connection, orgId: string): string {
  const hash = new ContentHash();
  for (const table of READINESS_TABLES) {
    hash.begin(table);
    let chunk: Values[] = [];
    const rows = connection.db
      .prepare<unknown[], Values>(selectRows(table, ['org_id']))
      .raw()
      .iterate(orgId);
    for (const row of rows) {
      chunk.push(row);
      if (chunk.length === CHUNK_ROWS) {
        hash.add(chunk);
        chunk = [];
      }
    }
    hash.add(chunk);
  }
  return hash.hex();
}

function deleteReport(connection: Connection, orgId: string, reportId: string): number {
  const { columns, values } = reportScope(orgId, reportId);
  return READINESS_TABLES.reduce(
    (sum, table) => sum + connection.prepare(deleteScope(table, columns)).run(...values).changes,
    0,
  );
}

/** Removes from quarantine what a complete walk no longer saw. Returns how many records are left. */
function settleQuarantine(
  connection: Connection,
  unit: LedgerReadiness,
  seen: ReadonlySet<string> | null,
): number {
  const key = keyValues(unit);
  const stored = connection
    .prepareRows('SELECT record_sha256 FROM "quarantine" WHERE org_id = ? AND stream = ? AND date = ?')
    .all(...key) as [string][];
  const gone = seen === null ? [] : stored.filter(([sha256]) => !seen.has(sha256));
  const remove = connection.prepare(deleteScope(tables.quarantine, [...UNIT_COLUMNS, 'record_sha256']));
  for (const [sha256] of gone) remove.run(...key, sha256);
  return stored.length - gone.length;
}
