import { allTables, tables } from '../../../schema/tables.ts';
import { isStream } from '../../core/stream.ts';
import type { QuarantineCount, QuarantineScope, RunEnd, RunRecord, RunStart } from '../port.ts';
import { columnsOfEnd, runOfValues, valuesOfStart } from '../run-records.ts';
import type { Link } from './link.ts';
import { putRows } from './rows.ts';
import { columnList, quoted, tableIn } from './statements.ts';

/** Records that a run began. */
export async function startRun(link: Link, run: RunStart): Promise<void> {
  await putRows(link, { table: tables.exportRuns, rows: [valuesOfStart(run)] });
}

/** Records how a run ended. */
export async function endRun(link: Link, run: RunEnd): Promise<void> {
  const columns = columnsOfEnd(run);
  const assignments = Object.keys(columns).map((name, index) => `${quoted(name)} = $${index + 2}`);
  await link.execute(
    `UPDATE ${tableIn(link, tables.exportRuns)} SET ${assignments.join(', ')} WHERE run_id = $1`,
    [run.runId, ...Object.values(columns)],
  );
}

/** The latest runs, newest first; of one organization if it is given. */
export async function readRuns(link: Link, limit: number, orgId?: string): Promise<RunRecord[]> {
  const { exportRuns } = tables;
  const where = orgId === undefined ? '' : 'WHERE org_id = $2';
  const stored = await link.query(
    `SELECT ${columnList(exportRuns)} FROM ${tableIn(link, exportRuns)} ${where} ORDER BY started_at DESC, run_id DESC LIMIT $1`,
    orgId === undefined ? [limit] : [limit, orgId],
  );
  return stored.map(runOfValues);
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
  { stream, day, orgId }: QuarantineScope,
  at: Date,
): Promise<number> {
  return link.execute(
    `UPDATE ${tableIn(link, tables.quarantine)} SET accepted_at = $1 WHERE accepted_at IS NULL ` +
      'AND stream = COALESCE($2, stream) AND date = COALESCE($3, date) AND org_id = COALESCE($4, org_id)',
    [at.toISOString(), stream ?? null, day ?? null, orgId ?? null],
  );
}

/** How many restatements are on record; of one organization if it is given. */
export async function countRestatements(link: Link, orgId?: string): Promise<number> {
  const [row] = await link.query(
    `SELECT COUNT(*) FROM ${tableIn(link, tables.restatements)} WHERE org_id = COALESCE($1, org_id)`,
    [orgId ?? null],
  );
  return Number(row?.[0] ?? 0);
}

/** Updates the statistics of all tables, of the rollups too, see `Warehouse.refreshStatistics`. Tables of another owner are skipped. */
export async function refreshStatistics(link: Link): Promise<void> {
  await link.script(`ANALYZE ${allTables.map((table) => tableIn(link, table)).join(', ')}`);
}
