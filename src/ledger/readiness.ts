import type { AnyTable } from '../../schema/define.ts';
import { ContentHash } from '../../schema/digest.ts';
import { sql } from '../../schema/query.ts';
import { columnsOf, keyOf, readerOf, type TableRows, type Values } from '../../schema/row.ts';
import { tablesOf } from '../../schema/tables.ts';
import { countWritten, type LedgerSteps, type Steps, type Warehouse } from '../port/index.ts';
import { type CommitOutcome, type LedgerReadiness, pendingUnit, readinessKey } from '../units/index.ts';
import { readUnitRows, unitRows } from './ledger.ts';
import { addQuarantine, noteDrift, settleQuarantine } from './quarantine.ts';
import { sumsOf, writeRestatement } from './restatements.ts';
import { applyPage, applyWalkEnd, type ReadinessPageCommit, type ReadinessWalkEnd } from './transitions.ts';

/** The tables of the readiness reports, the reports first. */
const TABLES = tablesOf('readiness');
/** Reports that are deleted with one step. */
const GONE_REPORTS_MAX = 1000;

/** The IDs of all stored reports. */
export function readReportIds(warehouse: Pick<Warehouse, 'read'>, orgId: string): Promise<readonly string[]> {
  return warehouse.read(() => storedReports(orgId));
}

/** The IDs of those reports that are stored with the same content. */
export function knownReports(
  warehouse: Pick<Warehouse, 'read'>,
  orgId: string,
  page: readonly TableRows[],
): Promise<ReadonlySet<string>> {
  return warehouse.read(function* () {
    return comparePage(page, yield* storedPage(orgId, page)).known;
  });
}

/** Stores one page of readiness reports and the position of the walk. */
export function commitReadinessPage(
  warehouse: Pick<Warehouse, 'transact'>,
  page: ReadinessPageCommit,
): Promise<CommitOutcome> {
  const { orgId, pulledAt } = page;
  const steps = function* (): LedgerSteps<CommitOutcome> {
    const before = yield* heldUnit(orgId);
    const stored = yield* storedPage(orgId, page.tables);
    const { changed, restated } = comparePage(page.tables, stored);
    const sums = restated ? yield* sumsOfAll(orgId) : '';
    const rowsWritten = yield* replaceReports(changed, { before: stored, after: page.tables });
    if (restated) yield* writeRestatement(before, pulledAt, { before: sums, after: yield* sumsOfAll(orgId) });
    yield* addQuarantine(before, page.quarantined, pulledAt);
    yield* noteDrift(before, page.drift, pulledAt.toISOString().slice(0, 10));
    const rows = rowsWritten > 0 ? yield* countRows(orgId) : before.rows;
    const unit = applyPage(before, page, { rows, rowsWritten });
    yield unitRows([unit]);
    return { rowsWritten, restated, units: [unit] };
  };
  return warehouse.transact('commit a page of readiness reports to', steps, 'latest');
}

/** Ends a readiness walk: deletes the reports that are gone, and writes state and digest of the unit. */
export function endReadinessWalk(
  warehouse: Pick<Warehouse, 'transact'>,
  end: ReadinessWalkEnd,
): Promise<CommitOutcome> {
  const { orgId, pulledAt, seenReportIds: seen } = end;
  const steps = function* (): LedgerSteps<CommitOutcome> {
    const before = yield* heldUnit(orgId);
    const gone = seen === null ? [] : (yield* storedReports(orgId)).filter((id) => !seen.has(id));
    const restated = gone.length > 0;
    const sums = restated ? yield* sumsOfAll(orgId) : '';
    const rowsWritten = yield* deleteReports(orgId, gone);
    if (restated) yield* writeRestatement(before, pulledAt, { before: sums, after: yield* sumsOfAll(orgId) });
    const quarantined = yield* settleQuarantine(before, end.seenQuarantine);
    // The stored digest is still right if neither a page nor the end changed a row.
    const isDigestKnown = rowsWritten === 0 && before.contentSha256 !== null;
    const { rows, contentSha256 } = isDigestKnown
      ? before
      : { rows: yield* countRows(orgId), contentSha256: yield* digestOf(orgId) };
    const unit = applyWalkEnd(before, end, { rows, contentSha256, rowsWritten, quarantined });
    yield unitRows([unit]);
    return { rowsWritten, restated, units: [unit] };
  };
  return warehouse.transact('end the readiness walk in', steps, 'latest');
}

function* heldUnit(orgId: string): LedgerSteps<LedgerReadiness> {
  const key = readinessKey(orgId);
  yield { held: [key] };
  const [unit = pendingUnit(key)] = yield* readUnitRows([key]);
  return unit;
}

function* storedReports(orgId: string): Steps<string[]> {
  const rows = yield sql`SELECT report_id FROM readiness_reports WHERE org_id = ${orgId}`;
  return rows.map((row) => String(row['report_id']));
}

/** The stored rows of the reports of a page, by table; those of one report in key order. */
function* storedPage(orgId: string, page: readonly TableRows[]): Steps<TableRows[]> {
  const keys = [...rowsByReport(page).keys()].map((id) => [orgId, id]);
  const parts: TableRows[] = [];
  for (const { table } of page) {
    const columns = columnsOf(table);
    const found = keys.length === 0 ? [] : yield { table, find: keys, columns };
    parts.push({ table, rows: found.map((row) => columns.map((name) => row[name] ?? null)) });
  }
  return parts;
}

/** Writes the rows of changed reports, and removes those that the reports no longer have. */
function* replaceReports(
  changed: ReadonlySet<string>,
  { before, after }: { readonly before: readonly TableRows[]; readonly after: readonly TableRows[] },
): Steps<number> {
  let written = 0;
  for (const [index, { table, rows }] of after.entries()) {
    const idOf = reportIdOf(table);
    const key = keyOf(table);
    const isChanged = (row: Values) => changed.has(idOf(row));
    const fresh = rows.filter(isChanged);
    const kept = new Set(fresh.map((row) => JSON.stringify(key(row))));
    const old = before[index]?.rows.filter(isChanged).map(key) ?? [];
    const gone = old.filter((values) => !kept.has(JSON.stringify(values)));
    if (gone.length > 0) written += yield* countWritten({ table, remove: gone });
    if (fresh.length > 0) written += yield* countWritten({ table, rows: fresh });
  }
  return written;
}

function* deleteReports(orgId: string, reportIds: readonly string[]): Steps<number> {
  let deleted = 0;
  for (let start = 0; start < reportIds.length; start += GONE_REPORTS_MAX) {
    const remove = reportIds.slice(start, start + GONE_REPORTS_MAX).map((id) => [orgId, id]);
    for (const table of TABLES) deleted += yield* countWritten({ table, remove });
  }
  return deleted;
}

function sumsOfAll(orgId: string): Steps<string> {
  return sumsOf(TABLES, sql`org_id = ${orgId}`, null);
}

function* countRows(orgId: string): Steps<number> {
  let rows = 0;
  for (const { name } of TABLES) {
    const [row] = yield sql`SELECT COUNT(*) AS counted FROM ${sql.identifier(name)} WHERE org_id = ${orgId}`;
    rows += Number(row?.['counted'] ?? 0);
  }
  return rows;
}

/** The digest of all reports, streamed: there may be millions of criteria. */
function* digestOf(orgId: string): Steps<string> {
  const hash = new ContentHash();
  for (const table of TABLES) {
    hash.begin(table);
    yield { table, orgId, each: (rows) => hash.add(rows) };
  }
  return hash.hex();
}

/** Reads the ID of the report from the rows of one of {@link TABLES}. */
function reportIdOf(table: AnyTable): (row: Values) => string {
  const read = readerOf(table, 'report_id');
  return (row) => String(read(row));
}

/** The rows of a page by report: for each, those of every table in its order. */
function rowsByReport(page: readonly TableRows[]): Map<string, Values[][]> {
  const reports = new Map<string, Values[][]>();
  for (const [index, { table, rows }] of page.entries()) {
    const idOf = reportIdOf(table);
    for (const row of rows) {
      const id = idOf(row);
      const parts = reports.get(id) ?? page.map(() => []);
      reports.set(id, parts);
      parts[index]?.push(row);
    }
  }
  return reports;
}

interface PageChanges {
  /** The reports to write. */
  readonly changed: ReadonlySet<string>;
  /** Reports that are stored with the same content. */
  readonly known: ReadonlySet<string>;
  /** A stored report has other content now. */
  readonly restated: boolean;
}

/** Compares a page with the stored rows of its reports, which are of the same tables. */
function comparePage(page: readonly TableRows[], stored: readonly TableRows[]): PageChanges {
  const before = rowsByReport(stored);
  const changed = new Set<string>();
  const known = new Set<string>();
  for (const [id, parts] of rowsByReport(page)) {
    const isKnown = JSON.stringify(before.get(id)) === JSON.stringify(parts);
    (isKnown ? known : changed).add(id);
  }
  return { changed, known, restated: [...changed].some((id) => before.has(id)) };
}
