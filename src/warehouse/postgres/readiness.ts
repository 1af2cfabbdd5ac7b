import { ContentHash } from '../../../schema/digest.ts';
import { tables } from '../../../schema/tables.ts';
import { afterPage, afterWalk } from '../ledger-transitions.ts';
import type {
  CommitOutcome,
  LedgerUnit,
  ReadinessPageCommit,
  ReadinessWalkEnd,
  Row,
  TableRows,
} from '../port.ts';
import { isSameReport, READINESS_TABLES, readinessKey, rowsByReport } from '../readiness-page.ts';
import { addQuarantine, noteDrift, readUnit, sumsOf, writeRestatement, writeUnits } from './ledger.ts';
import type { Link } from './link.ts';
import { putRows, removeRows } from './rows.ts';
import { scanRows } from './scan.ts';
import { selectWhere, tableIn } from './statements.ts';

const OF_REPORTS = ['"org_id" = $1', '"report_id" = ANY ($2::text[])'];
const REPORT_ID = 1;
/** Reports that are deleted with one statement. */
const GONE_REPORTS_MAX = 1000;

/** Which reports of `page` are stored with the same content, see `Warehouse.knownReports`. */
export async function knownReports(
  link: Link,
  orgId: string,
  page: readonly TableRows[],
): Promise<Set<string>> {
  const reports = rowsByReport(page);
  const stored = rowsByReport(await storedOf(link, orgId, [...reports.keys()]));
  return new Set([...reports].filter(([id, parts]) => isStored(stored.get(id), parts)).map(([id]) => id));
}

/** Stores a page of reports, see `Warehouse.commitReadinessPage`. Call inside a transaction. */
export async function commitReadinessPage(link: Link, page: ReadinessPageCommit): Promise<CommitOutcome> {
  const { orgId, pulledAt } = page;
  const key = readinessKey(orgId);
  const unit = await readUnit(link, key);
  const reports = rowsByReport(page.tables);
  const before = await storedOf(link, orgId, [...reports.keys()]);
  const stored = rowsByReport(before);
  const changed = [...reports].filter(([id, parts]) => !isStored(stored.get(id), parts)).map(([id]) => id);
  const restated = changed.some((id) => stored.has(id));
  const sums = restated ? await sumsOfAll(link, orgId) : '';
  const rowsWritten = await replaceReports(link, new Set(changed), { before, after: page.tables });
  if (restated)
    await writeRestatement(link, key, pulledAt, { before: sums, after: await sumsOfAll(link, orgId) });
  await addQuarantine(link, { ...key, quarantined: page.quarantined, pulledAt });
  await noteDrift(link, key, page.drift, pulledAt.toISOString().slice(0, 10));
  const rows = rowsWritten > 0 ? await countRows(link, orgId) : 0;
  const walked = afterPage(unit, page, { rows, rowsWritten });
  await writeUnits(link, [walked]);
  return { rowsWritten, restated, units: [walked] };
}

/** Ends a walk, see `Warehouse.endReadinessWalk`. Call inside a transaction. */
export async function endReadinessWalk(link: Link, end: ReadinessWalkEnd): Promise<CommitOutcome> {
  const { orgId, pulledAt } = end;
  const key = readinessKey(orgId);
  const unit = await readUnit(link, key);
  const { seenReportIds: seen } = end;
  const gone = seen === null ? [] : (await storedReports(link, orgId)).filter((id) => !seen.has(id));
  const before = gone.length > 0 ? await sumsOfAll(link, orgId) : '';
  const rowsWritten = await deleteReports(link, orgId, gone);
  if (gone.length > 0)
    await writeRestatement(link, key, pulledAt, { before, after: await sumsOfAll(link, orgId) });
  const quarantined = await settleQuarantine(link, orgId, end.seenQuarantine);
  const content = await contentAfter(link, unit, rowsWritten);
  const walked = afterWalk(unit, end, { ...content, rowsWritten, quarantined });
  await writeUnits(link, [walked]);
  return { rowsWritten, restated: gone.length > 0, units: [walked] };
}

/** The ids of all stored reports, see `Warehouse.reportIds`. */
export async function storedReports(link: Link, orgId: string): Promise<string[]> {
  const reports = tableIn(link, tables.readinessReports);
  const stored = await link.query(`SELECT "report_id" FROM ${reports} WHERE "org_id" = $1`, [orgId]);
  return stored.map(([id]) => String(id));
}

function isStored(stored: readonly TableRows[] | undefined, parts: readonly TableRows[]): boolean {
  return stored !== undefined && isSameReport(stored, parts);
}

/** The stored rows of reports, by table and in key order. */
async function storedOf(link: Link, orgId: string, reportIds: readonly string[]): Promise<TableRows[]> {
  const parts: TableRows[] = [];
  for (const table of READINESS_TABLES) {
    parts.push({ table, rows: await link.query(selectWhere(link, table, OF_REPORTS), [orgId, reportIds]) });
  }
  return parts;
}

/** Writes the rows of changed reports, and removes those that they have no more. */
async function replaceReports(
  link: Link,
  changed: ReadonlySet<string>,
  { before, after }: { before: readonly TableRows[]; after: readonly TableRows[] },
): Promise<number> {
  let written = 0;
  for (const { table, rows } of after) {
    const keyOf = (row: Row) => JSON.stringify(row.slice(0, table.key.length));
    const isChanged = (row: Row) => changed.has(String(row[REPORT_ID]));
    const fresh = rows.filter(isChanged);
    const kept = new Set(fresh.map(keyOf));
    const old = before.find((part) => part.table === table)?.rows.filter(isChanged) ?? [];
    written += await removeRows(link, { table, rows: old.filter((row) => !kept.has(keyOf(row))) });
    written += await putRows(link, { table, rows: fresh });
  }
  return written;
}

async function sumsOfAll(link: Link, orgId: string): Promise<string> {
  return sumsOf(link, READINESS_TABLES, { conditions: ['"org_id" = $1'], values: [orgId] }, null);
}

async function countRows(link: Link, orgId: string): Promise<number> {
  let rows = 0;
  for (const table of READINESS_TABLES) {
    const [row] = await link.query(`SELECT COUNT(*) FROM ${tableIn(link, table)} WHERE "org_id" = $1`, [
      orgId,
    ]);
    rows += Number(row?.[0] ?? 0);
  }
  return rows;
}

async function contentAfter(
  link: Link,
  unit: LedgerUnit,
  rowsWritten: number,
): Promise<Pick<LedgerUnit, 'contentSha256' | 'rows'>> {
  if (rowsWritten === 0 && unit.contentSha256 !== null) return unit;
  const hash = new ContentHash();
  for (const table of READINESS_TABLES) {
    hash.begin(table);
    for await (const rows of scanRows(link, table, { orgId: unit.orgId })) hash.add(rows);
  }
  return { contentSha256: hash.hex(), rows: await countRows(link, unit.orgId) };
}

async function deleteReports(link: Link, orgId: string, reportIds: readonly string[]): Promise<number> {
  let deleted = 0;
  for (let start = 0; start < reportIds.length; start += GONE_REPORTS_MAX) {
    const ids = reportIds.slice(start, start + GONE_REPORTS_MAX);
    for (const table of READINESS_TABLES) {
      const sql = `DELETE FROM ${tableIn(link, table)} WHERE ${OF_REPORTS.join(' AND ')}`;
      deleted += await link.execute(sql, [orgId, ids]);
    }
  }
  return deleted;
}

/** Drops from quarantine what a complete walk no longer met; answers how many records are left there. */
async function settleQuarantine(
  link: Link,
  orgId: string,
  seen: ReadonlySet<string> | null,
): Promise<number> {
  const conditions = ['"org_id" = $1', '"stream" = $2', '"date" = $3'];
  const { stream, day } = readinessKey(orgId);
  const stored = await link.query(selectWhere(link, tables.quarantine, conditions), [orgId, stream, day]);
  const gone = seen === null ? [] : stored.filter(([, , , sha256]) => !seen.has(String(sha256)));
  await removeRows(link, { table: tables.quarantine, rows: gone });
  return stored.length - gone.length;
}
