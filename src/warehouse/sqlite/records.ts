import { columnsOf, encoderOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { isStream } from '../../core/stream.ts';
import { expectSameCount } from '../erased-list.ts';
import { columnsOfEnd, runOfValues, valuesOfStart } from '../ledger-rows.ts';
import type {
  HookEventCommit,
  QuarantineCount,
  RunEnd,
  RunRecord,
  RunStart,
  SessionRow,
  Values,
} from '../port.ts';
import type { Connection } from './connection.ts';
import { putRows } from './rows.ts';

const RUN_COLUMNS = Object.keys(tables.exportRuns.columns).join(', ');

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
  const sql = `SELECT ${RUN_COLUMNS} FROM "export_runs" ${where} ORDER BY started_at DESC, run_id DESC LIMIT ?`;
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

const encodeSession = encoderOf(tables.sessions);

/** Stores a created session, see `Warehouse.recordSession`. Call inside a transaction. */
export function recordSession(connection: Connection, row: SessionRow): void {
  putRows(connection, { table: tables.sessions, rows: [encodeSession(row)] });
}

const EVENT_COLUMNS = columnsOf(tables.hookEvents);
const encodeEvent = encoderOf(tables.hookEvents);

const INSERT = `INSERT INTO "hook_events" (${EVENT_COLUMNS.join(', ')})
SELECT ${EVENT_COLUMNS.map(() => '?').join(', ')}
WHERE NOT EXISTS (
  SELECT 1 FROM "hook_events" WHERE event_id = ? AND org_id IN (SELECT value FROM json_each(?))
)`;
const LISTED = 'SELECT COUNT(*) FROM "erased"';
const ADOPT = `UPDATE "hook_events" SET org_id = ? WHERE org_id = ''`;

/** Stores hook events, each once, see `Warehouse.storeHookEvents`. Call inside a transaction. Returns rows written. */
export function storeHookEvents(connection: Connection, { orgId, rows, erased }: HookEventCommit): number {
  if (erased !== undefined) expectSameCount(erased, Number(connection.prepare(LISTED).pluck().get()));
  // An event may have been stored when another organization, or none, was the only one.
  const everyOrg = JSON.stringify([...new Set([...readOrganizations(connection), orgId, ''])]);
  const adopted = orgId === '' ? 0 : connection.prepare(ADOPT).run(orgId).changes;
  const insert = connection.prepare(INSERT);
  return rows.reduce(
    (written, row) =>
      written + insert.run(...encodeEvent({ org_id: orgId, ...row }), row.event_id, everyOrg).changes,
    adopted,
  );
}
