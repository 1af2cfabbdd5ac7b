import { tables } from '../../../schema/tables.ts';
import { isStream } from '../../core/stream.ts';
import type { QuarantineCount, RunEnd, RunRecord, RunStart, Values } from '../port.ts';
import { columnsOfEnd, runOfValues, valuesOfStart } from '../run-records.ts';
import type { Connection } from './connection.ts';
import { putRows } from './rows.ts';

const COLUMNS = Object.keys(tables.exportRuns.columns).join(', ');

/** Records that a run began. */
export function startRun(connection: Connection, run: RunStart): void {
  putRows(connection, { table: tables.exportRuns, rows: [valuesOfStart(run)] });
}

/** Records how a run ended. */
export function endRun(connection: Connection, run: RunEnd): void {
  const columns = columnsOfEnd(run);
  const assignments = Object.keys(columns).map((name) => `${name} = ?`);
  connection
    .prepare(`UPDATE "export_runs" SET ${assignments.join(', ')} WHERE run_id = ?`)
    .run(...Object.values(columns), run.runId);
}

/** The latest runs, newest first; of one organization if it is given. */
export function readRuns(connection: Connection, limit: number, orgId?: string): RunRecord[] {
  const where = orgId === undefined ? '' : 'WHERE org_id = ?';
  const sql = `SELECT ${COLUMNS} FROM "export_runs" ${where} ORDER BY started_at DESC, run_id DESC LIMIT ?`;
  const values = orgId === undefined ? [limit] : [orgId, limit];
  return (connection.prepareRows(sql).all(...values) as Values[]).map(runOfValues);
}

/** The organizations that the ledger knows. */
export function readOrganizations(connection: Connection): string[] {
  const sql = 'SELECT DISTINCT org_id FROM "export_units" ORDER BY org_id';
  return (connection.prepareRows(sql).all() as [string][]).map(([orgId]) => orgId);
}

/** How many records are in quarantine, by organization, stream and reason. */
export function readQuarantineCounts(connection: Connection): QuarantineCount[] {
  const stored = connection
    .prepare(
      `SELECT org_id AS "orgId", stream, reason, COUNT(*) AS records, COUNT(accepted_at) AS accepted
      FROM "quarantine" GROUP BY org_id, stream, reason ORDER BY org_id, stream, reason`,
    )
    .all() as (Omit<QuarantineCount, 'stream'> & { readonly stream: string })[];
  return stored.flatMap((row) => (isStream(row.stream) ? [{ ...row, stream: row.stream }] : []));
}

/** How many restatements are on record; of one organization if it is given. */
export function countRestatements(connection: Connection, orgId?: string): number {
  const sql = 'SELECT COUNT(*) FROM "restatements" WHERE org_id = COALESCE(?, org_id)';
  const [count] = connection.prepareRows(sql).get(orgId ?? null) as [number];
  return count;
}
