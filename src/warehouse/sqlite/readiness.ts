import { ContentHash } from '../../../schema/digest.ts';
import { tables } from '../../../schema/tables.ts';
import { afterPage, afterWalk } from '../ledger-transitions.ts';
import type { CommitOutcome, ReadinessPageCommit, ReadinessWalkEnd, Row, TableRows } from '../port.ts';
import { isSameReport, READINESS_TABLES, readinessKey, rowsByReport } from '../readiness-page.ts';
import type { Connection } from './connection.ts';
import { addQuarantine, noteDrift, readUnit, UNIT_SCOPE, writeRestatement, writeUnit } from './ledger.ts';
import { replaceScope, type Scope } from './rows.ts';
import { deleteScope, selectRows } from './statements.ts';
import { sumsOf } from './sums.ts';

/** Rows that are hashed at once. */
const CHUNK_ROWS = 1000;

function orgScope(orgId: string): Scope {
  return { columns: ['org_id'], values: [orgId] };
}

function reportScope(orgId: string, reportId: string): Scope {
  return { columns: ['org_id', 'report_id'], values: [orgId, reportId] };
}

/** Which reports of `page` are stored with the same content, see `Warehouse.knownReports`. */
export function knownReports(connection: Connection, orgId: string, page: readonly TableRows[]): Set<string> {
  const reports = rowsByReport(page);
  return new Set([...reports.keys()].filter((id) => isStored(connection, orgId, id, reports.get(id) ?? [])));
}

/** Stores a page of reports, see `Warehouse.commitReadinessPage`. Call inside a transaction. */
export function commitReadinessPage(connection: Connection, page: ReadinessPageCommit): CommitOutcome {
  const { orgId, pulledAt } = page;
  const changed = changesOf(connection, page);
  const before = changed.restated
    ? sumsOf(connection, READINESS_TABLES, { ...orgScope(orgId), sha256: null })
    : '';
  let rowsWritten = 0;
  for (const [reportId, parts] of changed.reports) {
    for (const rows of parts) rowsWritten += replaceScope(connection, rows, reportScope(orgId, reportId));
  }
  if (changed.restated) {
    const after = sumsOf(connection, READINESS_TABLES, { ...orgScope(orgId), sha256: null });
    writeRestatement(connection, readinessKey(orgId), pulledAt, before, after);
  }
  addQuarantine(connection, readinessKey(orgId), page.quarantined, pulledAt);
  noteDrift(connection, readinessKey(orgId), page.drift, pulledAt.toISOString().slice(0, 10));
  const rows = rowsWritten > 0 ? countRows(connection, orgId) : 0;
  const unit = afterPage(readUnit(connection, readinessKey(orgId)), page, { rows, rowsWritten });
  writeUnit(connection, unit);
  return { rowsWritten, restated: changed.restated, units: [unit] };
}

/** Ends a walk, see `Warehouse.endReadinessWalk`. Call inside a transaction. */
export function endReadinessWalk(connection: Connection, end: ReadinessWalkEnd): CommitOutcome {
  const { orgId, pulledAt } = end;
  const { seenReportIds: seen } = end;
  const gone = seen === null ? [] : storedReports(connection, orgId).filter((id) => !seen.has(id));
  const before =
    gone.length > 0 ? sumsOf(connection, READINESS_TABLES, { ...orgScope(orgId), sha256: null }) : '';
  const rowsWritten = gone.reduce((sum, reportId) => sum + deleteReport(connection, orgId, reportId), 0);
  if (gone.length > 0) {
    const after = sumsOf(connection, READINESS_TABLES, { ...orgScope(orgId), sha256: null });
    writeRestatement(connection, readinessKey(orgId), pulledAt, before, after);
  }
  const quarantined = settleQuarantine(connection, orgId, end.seenQuarantine);
  const unit = readUnit(connection, readinessKey(orgId));
  const unchanged = gone.length === 0 && unit.contentSha256 !== null;
  const contentSha256 = unchanged ? unit.contentSha256 : digestOf(connection, orgId);
  const rows = unchanged ? unit.rows : countRows(connection, orgId);
  const after = afterWalk(unit, end, { rows, contentSha256, rowsWritten, quarantined });
  writeUnit(connection, after);
  return { rowsWritten, restated: gone.length > 0, units: [after] };
}

/** The reports of a page that differ from what is stored, and whether one of them was stored before. */
function changesOf(connection: Connection, page: ReadinessPageCommit) {
  const reports = rowsByReport(page.tables);
  let restated = false;
  for (const [reportId, parts] of reports) {
    if (isStored(connection, page.orgId, reportId, parts)) reports.delete(reportId);
    else
      restated ||= rowsOf(connection, tables.readinessReports, reportScope(page.orgId, reportId)).length > 0;
  }
  return { reports, restated };
}

function isStored(
  connection: Connection,
  orgId: string,
  reportId: string,
  parts: readonly TableRows[],
): boolean {
  const scope = reportScope(orgId, reportId);
  const stored = parts.map(({ table }) => ({ table, rows: rowsOf(connection, table, scope) }));
  return isSameReport(stored, parts);
}

function rowsOf(connection: Connection, table: TableRows['table'], scope: Scope): Row[] {
  return connection.prepareRows(selectRows(table, scope.columns)).all(...scope.values) as Row[];
}

/** The ids of all stored reports, see `Warehouse.reportIds`. */
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
    let chunk: Row[] = [];
    const rows = connection.db
      .prepare<unknown[], Row>(selectRows(table, ['org_id']))
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

/** Drops from quarantine what a complete walk no longer met; returns how many records are left there. */
function settleQuarantine(connection: Connection, orgId: string, seen: ReadonlySet<string> | null): number {
  const key = readinessKey(orgId);
  const stored = connection
    .prepareRows('SELECT record_sha256 FROM "quarantine" WHERE org_id = ? AND stream = ? AND date = ?')
    .all(key.orgId, key.stream, key.day) as [string][];
  const gone = seen === null ? [] : stored.filter(([sha256]) => !seen.has(sha256));
  const remove = connection.prepare(deleteScope(tables.quarantine, [...UNIT_SCOPE, 'record_sha256']));
  for (const [sha256] of gone) remove.run(key.orgId, key.stream, key.day, sha256);
  return stored.length - gone.length;
}
