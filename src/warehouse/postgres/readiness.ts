import { ContentHash } from '../../../schema/digest.ts';
import { keyOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { keyValues } from '../ledger-rows.ts';
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
import { comparePage, isDigestKnown, READINESS_TABLES, reportIdOf, rowsByReport } from '../readiness-page.ts';
import { addQuarantine, noteDrift, readUnit, sumsOf, writeRestatement, writeUnits } from './ledger.ts';
import type { Link } from './link.ts';
import { scanRows } from './queries.ts';
import { putRows, removeKeys, selectWhere, tableIn } from './rows.ts';

const { quarantine } = tables;
const OF_REPORTS = ['"org_id" = $1', '"report_id" = ANY ($2::text[])'];
/** Reports that are deleted with one statement. */
const GONE_REPORTS_MAX = 1000;

/** Finds the reports of `page` that are stored with the same content, see `Warehouse.knownReports`. */
export async function knownReports(
  link: Link,
  orgId: string,
  page: readonly TableRows[],
): Promise<ReadonlySet<string>> {
  return comparePage(page, await storedPage(link, orgId, page)).known;
}

/** Stores a page of reports, see `Warehouse.commitReadinessPage`. Call inside a transaction. */
export async function commitReadinessPage(link: Link, page: ReadinessPageCommit): Promise<CommitOutcome> {
  const { orgId, pulledAt, quarantined } = page;
  const before = await readUnit(link, readinessKey(orgId));
  const stored = await storedPage(link, orgId, page.tables);
  const { reports, restated } = comparePage(page.tables, stored);
  const sums = restated ? await sumsOfAll(link, orgId) : '';
  const rowsWritten = await replaceReports(link, reports, { before: stored, after: page.tables });
  if (restated)
    await writeRestatement(link, before, pulledAt, { before: sums, after: await sumsOfAll(link, orgId) });
  await addQuarantine(link, { unit: before, quarantined, pulledAt });
  await noteDrift(link, before, page.drift, pulledAt.toISOString().slice(0, 10));
  const rows = rowsWritten > 0 ? await countRows(link, orgId) : before.rows;
  const unit = applyPage(before, page, { rows, rowsWritten });
  await writeUnits(link, [unit]);
  return { rowsWritten, restated, units: [unit] };
}

/** Ends a walk, see `Warehouse.endReadinessWalk`. Call inside a transaction. */
export async function endReadinessWalk(link: Link, end: ReadinessWalkEnd): Promise<CommitOutcome> {
  const { orgId, pulledAt, seenReportIds: seen } = end;
  const before = await readUnit(link, readinessKey(orgId));
  const gone = seen === null ? [] : (await storedReports(link, orgId)).filter((id) => !seen.has(id));
  const restated = gone.length > 0;
  const sums = restated ? await sumsOfAll(link, orgId) : '';
  const rowsWritten = await deleteReports(link, orgId, gone);
  if (restated)
    await writeRestatement(link, before, pulledAt, { before: sums, after: await sumsOfAll(link, orgId) });
  const quarantined = await settleQuarantine(link, before, end.seenQuarantine);
  const { rows, contentSha256 } = isDigestKnown(before, rowsWritten)
    ? before
    : { rows: await countRows(link, orgId), contentSha256: await digestOf(link, orgId) };
  const unit = applyWalkEnd(before, end, { rows, contentSha256, rowsWritten, quarantined });
  await writeUnits(link, [unit]);
  return { rowsWritten, restated, units: [unit] };
}

/** The IDs of all stored reports, see `Warehouse.reportIds`. */
export async function storedReports(link: Link, orgId: string): Promise<string[]> {
  const reports = tableIn(link, tables.readinessReports);
  const stored = await link.query(`SELECT "report_id" FROM ${reports} WHERE "org_id" = $1`, [orgId]);
  return stored.map(([id]) => String(id));
}

/** The stored rows of the reports of a page, by table and in key order. */
async function storedPage(link: Link, orgId: string, page: readonly TableRows[]): Promise<TableRows[]> {
  const ids = [...rowsByReport(page).keys()];
  const parts: TableRows[] = [];
  for (const { table } of page)
    parts.push({ table, rows: await link.query(selectWhere(link, table, OF_REPORTS), [orgId, ids]) });
  return parts;
}

/** Writes the rows of changed reports, and removes those that the reports no longer have. */
async function replaceReports(
  link: Link,
  changed: ReadonlyMap<string, unknown>,
  { before, after }: { before: readonly TableRows[]; after: readonly TableRows[] },
): Promise<number> {
  let written = 0;
  for (const { table, rows } of after) {
    const idOf = reportIdOf(table);
    const isChanged = (row: Values) => changed.has(idOf(row));
    const fresh = rows.filter(isChanged);
    const kept = new Set(fresh.map(keyOf(table)).map((key) => JSON.stringify(key)));
    const old =
      before
        .find((part) => part.table === table)
        ?.rows.filter(isChanged)
        .map(keyOf(table)) ?? [];
    written += await removeKeys(
      link,
      table,
      old.filter((key) => !kept.has(JSON.stringify(key))),
    );
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

/** The digest of all reports, streamed: there may be millions of criteria. */
async function digestOf(link: Link, orgId: string): Promise<string> {
  const hash = new ContentHash();
  for (const table of READINESS_TABLES) {
    hash.begin(table);
    for await (const rows of scanRows(link, table, { orgId })) hash.add(rows);
  }
  return hash.hex();
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

/** Removes from quarantine what a complete walk no longer saw. Returns how many records are left. */
async function settleQuarantine(
  link: Link,
  unit: LedgerReadiness,
  seen: ReadonlySet<string> | null,
): Promise<number> {
  const conditions = ['"org_id" = $1', '"stream" = $2', '"date" = $3'];
  const stored = await link.query(selectWhere(link, quarantine, conditions, quarantine.key), keyValues(unit));
  const gone = seen === null ? [] : stored.filter((key) => !seen.has(String(key.at(-1))));
  await removeKeys(link, quarantine, gone);
  return stored.length - gone.length;
}
