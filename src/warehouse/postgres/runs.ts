import { contentTables, tables } from '../../../schema/tables.ts';
import { isStream } from '../../core/stream.ts';
import type { QuarantineCount, QuarantineScope, Row, RunEnd, RunRecord, RunStart } from '../port.ts';
import type { Link } from './link.ts';
import { putRows } from './rows.ts';
import { tableIn } from './statements.ts';

/** Records that a run began. */
export async function startRun(link: Link, run: RunStart): Promise<void> {
  const values: Readonly<Record<string, Row[number]>> = {
    run_id: run.runId,
    command: run.command,
    started_at: run.startedAt.toISOString(),
    units_done: 0,
    units_failed: 0,
    rows_written: 0,
    requests: 0,
    retries: 0,
    versions: JSON.stringify(run.versions),
  };
  const row = Object.keys(tables.exportRuns.columns).map((name) => values[name] ?? null);
  await putRows(link, { table: tables.exportRuns, rows: [row] });
}

/** Records how a run ended. */
export async function endRun(link: Link, run: RunEnd): Promise<void> {
  await link.execute(
    `UPDATE ${tableIn(link, tables.exportRuns)} SET org_id = $2, ended_at = $3, exit_code = $4, units_done = $5, units_failed = $6,
      rows_written = $7, requests = $8, retries = $9 WHERE run_id = $1`,
    [
      run.runId,
      run.orgId,
      run.endedAt.toISOString(),
      run.exitCode,
      run.unitsDone,
      run.unitsFailed,
      run.rowsWritten,
      run.requests,
      run.retries,
    ],
  );
}

/** The latest runs, newest first. */
export async function readRuns(link: Link, limit: number): Promise<RunRecord[]> {
  const stored = await link.query(
    `SELECT run_id, org_id, command, started_at, ended_at, exit_code, units_done, units_failed, rows_written, requests,
      retries FROM ${tableIn(link, tables.exportRuns)} ORDER BY started_at DESC, run_id DESC LIMIT $1`,
    [limit],
  );
  return stored.map((row) => ({
    runId: String(row[0]),
    orgId: textOf(row[1]),
    command: String(row[2]),
    startedAt: String(row[3]),
    endedAt: textOf(row[4]),
    exitCode: typeof row[5] === 'number' ? row[5] : null,
    unitsDone: Number(row[6]),
    unitsFailed: Number(row[7]),
    rowsWritten: Number(row[8]),
    requests: Number(row[9]),
    retries: Number(row[10]),
  }));
}

/** The organizations that the ledger knows. */
export async function readOrganizations(link: Link): Promise<string[]> {
  const stored = await link.query(
    `SELECT DISTINCT org_id FROM ${tableIn(link, tables.exportUnits)} ORDER BY org_id`,
  );
  return stored.map(([orgId]) => String(orgId));
}

/** How many records are in quarantine, by organization, stream and reason. */
export async function readQuarantineCounts(link: Link): Promise<QuarantineCount[]> {
  const stored = await link.query(
    `SELECT org_id, stream, reason, COUNT(*), COUNT(accepted_at) FROM ${tableIn(link, tables.quarantine)} GROUP BY org_id, stream, reason
      ORDER BY org_id, stream, reason COLLATE "C"`,
  );
  return stored.flatMap(([orgId, stream, reason, records, accepted]) =>
    isStream(stream)
      ? [
          {
            orgId: String(orgId),
            stream,
            reason: String(reason),
            records: Number(records),
            accepted: Number(accepted),
          },
        ]
      : [],
  );
}

/** Accepts records in quarantine, see `Warehouse.acceptQuarantine`. */
export async function acceptQuarantine(
  link: Link,
  { stream, day }: QuarantineScope,
  at: Date,
): Promise<number> {
  return link.execute(
    `UPDATE ${tableIn(link, tables.quarantine)} SET accepted_at = $1 WHERE accepted_at IS NULL ` +
      'AND stream = COALESCE($2, stream) AND date = COALESCE($3, date)',
    [at.toISOString(), stream ?? null, day ?? null],
  );
}

/** How many restatements are on record. */
export async function countRestatements(link: Link): Promise<number> {
  const [row] = await link.query(`SELECT COUNT(*) FROM ${tableIn(link, tables.restatements)}`);
  return Number(row?.[0] ?? 0);
}

/** Measures the tables of the content, see `Warehouse.refreshStatistics`. A role that does not own them skips them. */
export async function refreshStatistics(link: Link): Promise<void> {
  await link.script(`ANALYZE ${contentTables.map((table) => tableIn(link, table)).join(', ')}`);
}

function textOf(value: Row[number] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
