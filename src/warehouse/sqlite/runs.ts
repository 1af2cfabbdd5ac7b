import { count, desc, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { sqliteTables } from '../../../schema/sqlite.ts';
import { isStream } from '../../core/stream.ts';
import type { QuarantineCount, RunEnd, RunRecord, RunStart } from '../port.ts';
import type { Connection } from './connection.ts';

const { exportRuns, exportUnits, quarantine, restatements } = sqliteTables;

/** Records that a run began. */
export function startRun(connection: Connection, run: RunStart): void {
  drizzle({ client: connection.db })
    .insert(exportRuns)
    .values({
      run_id: run.runId,
      command: run.command,
      started_at: run.startedAt.toISOString(),
      units_done: 0,
      units_failed: 0,
      rows_written: 0,
      requests: 0,
      retries: 0,
      versions: JSON.stringify(run.versions),
    })
    .run();
}

/** Records how a run ended. */
export function endRun(connection: Connection, run: RunEnd): void {
  drizzle({ client: connection.db })
    .update(exportRuns)
    .set({
      org_id: run.orgId,
      ended_at: run.endedAt.toISOString(),
      exit_code: run.exitCode,
      units_done: run.unitsDone,
      units_failed: run.unitsFailed,
      rows_written: run.rowsWritten,
      requests: run.requests,
      retries: run.retries,
    })
    .where(eq(exportRuns.run_id, run.runId))
    .run();
}

/** The latest runs, newest first. */
export function readRuns(connection: Connection, limit: number): RunRecord[] {
  const stored = drizzle({ client: connection.db })
    .select()
    .from(exportRuns)
    .orderBy(desc(exportRuns.started_at), desc(exportRuns.run_id))
    .limit(limit)
    .all();
  return stored.map((run) => ({
    runId: run.run_id,
    orgId: run.org_id,
    command: run.command,
    startedAt: run.started_at,
    endedAt: run.ended_at,
    exitCode: run.exit_code,
    unitsDone: run.units_done,
    unitsFailed: run.units_failed,
    rowsWritten: run.rows_written,
    requests: run.requests,
    retries: run.retries,
  }));
}

/** The organizations that the ledger knows. */
export function readOrganizations(connection: Connection): string[] {
  const stored = drizzle({ client: connection.db })
    .selectDistinct({ orgId: exportUnits.org_id })
    .from(exportUnits)
    .orderBy(exportUnits.org_id)
    .all();
  return stored.map(({ orgId }) => orgId);
}

/** How many records are in quarantine, by organization, stream and reason. */
export function readQuarantineCounts(connection: Connection): QuarantineCount[] {
  const { org_id: orgId, stream, reason } = quarantine;
  const stored = drizzle({ client: connection.db })
    .select({ orgId, stream, reason, records: count(), accepted: count(quarantine.accepted_at) })
    .from(quarantine)
    .groupBy(orgId, stream, reason)
    .orderBy(orgId, stream, reason)
    .all();
  return stored.flatMap((row) => (isStream(row.stream) ? [{ ...row, stream: row.stream }] : []));
}

/** How many restatements are on record. */
export function countRestatements(connection: Connection): number {
  return drizzle({ client: connection.db }).select({ n: count() }).from(restatements).get()?.n ?? 0;
}
