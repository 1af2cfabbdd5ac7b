import { sql } from '../../schema/query.ts';
import { encoderOf, type RowOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { isUndecided } from '../core/exit-code.ts';
import { canonicalJson, isStorable } from '../core/json.ts';
import type { Stream } from '../core/stream.ts';
import { LISTING, readKeptOutSteps } from '../kept-out/index.ts';
import { listMark, noteAct, PULL } from '../marks/index.ts';
import type { QueryRow, Steps, Warehouse } from '../port/index.ts';
import type { KeptOut } from '../privacy/index.ts';

/** A run, as it begins. */
interface RunStart {
  readonly runId: string;
  readonly command: string;
  readonly startedAt: Date;
  readonly versions: Readonly<Record<string, string>>;
}

/** A run, as it ends. */
interface RunEnd {
  readonly runId: string;
  /** Null if the run ended before it knew the organization. */
  readonly orgId: string | null;
  readonly endedAt: Date;
  readonly exitCode: number;
  readonly unitsDone: number;
  readonly unitsFailed: number;
  readonly rowsWritten: number;
  readonly requests: number;
  readonly retries: number;
  /** Number of responses by HTTP status. */
  readonly responses: Readonly<Record<string, number>>;
  /** The streams that the run brought up to yesterday. */
  readonly completed: readonly Stream[];
}

/** A run of the past. `endedAt` is null when it was killed or is under way. */
export interface RunRecord extends Omit<RunEnd, 'endedAt' | 'exitCode' | 'responses' | 'completed'> {
  readonly command: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly exitCode: number | null;
}

const { exportRuns, sessions } = tables;
const encodeRun = encoderOf(exportRuns);
const encodeSession = encoderOf(sessions);

/** Records that a run began. */
export async function startRun(warehouse: Pick<Warehouse, 'transact'>, run: RunStart): Promise<void> {
  const row = encodeRun({
    run_id: run.runId,
    org_id: null,
    command: run.command,
    started_at: run.startedAt.toISOString(),
    ended_at: null,
    exit_code: null,
    units_done: 0,
    units_failed: 0,
    rows_written: 0,
    requests: 0,
    retries: 0,
    versions: JSON.stringify(run.versions),
    responses: null,
    completed: null,
  });
  const steps = function* (): Steps<void> {
    yield { table: exportRuns, rows: [row] };
    yield* listMark(PULL, run.runId);
  };
  await warehouse.transact('record the run in', steps, 'latest');
}

/** Records how a run ended. */
export async function endRun(warehouse: Pick<Warehouse, 'transact'>, run: RunEnd): Promise<void> {
  const columns: Partial<RowOf<typeof exportRuns>> = {
    org_id: run.orgId,
    ended_at: run.endedAt.toISOString(),
    exit_code: run.exitCode,
    units_done: run.unitsDone,
    units_failed: run.unitsFailed,
    rows_written: run.rowsWritten,
    requests: run.requests,
    retries: run.retries,
    responses: canonicalJson(run.responses),
    completed: JSON.stringify(run.completed),
  };
  const assignments = Object.entries(columns).map(([name, value]) => sql`${sql.identifier(name)} = ${value}`);
  const steps = function* (): Steps<void> {
    yield sql`UPDATE export_runs SET ${sql.join(assignments, sql`, `)} WHERE run_id = ${run.runId}`;
  };
  await warehouse.transact('record the run in', steps, 'latest');
}

/** What a person starts beside the export, and is no last run: a replay sends no request, so it says nothing about the key. */
export const ASIDE: ReadonlySet<string> = new Set(['backfill', 'replay']);

/**
 * The latest runs, newest first.
 * @param orgId only the runs of this organization. @default all runs
 * @param now runs that began later were recorded while a clock was ahead, and come after all others. @default none did
 */
export function readRuns(
  warehouse: Pick<Warehouse, 'read'>,
  limit: number,
  { orgId, now }: { readonly orgId?: string | undefined; readonly now?: Date } = {},
): Promise<RunRecord[]> {
  const where = orgId === undefined ? sql`` : sql`WHERE org_id = ${orgId}`;
  const ahead =
    now === undefined ? sql`` : sql`CASE WHEN started_at > ${now.toISOString()} THEN 1 ELSE 0 END, `;
  return warehouse.read(function* () {
    const rows =
      yield sql`SELECT * FROM export_runs ${where} ORDER BY ${ahead}started_at DESC, run_id DESC LIMIT ${limit}`;
    return rows.map(runOf);
  });
}

/** Of runs, newest first, the one by which the export stands: it ended by itself, and began when the clock was not ahead. */
export function lastDecided(runs: readonly RunRecord[], now: Date): RunRecord | undefined {
  return runs.find(
    ({ command, startedAt, endedAt, exitCode }) =>
      !ASIDE.has(command) && startedAt <= now.toISOString() && endedAt !== null && !isUndecided(exitCode),
  );
}

function runOf(run: QueryRow): RunRecord {
  const { org_id: orgId = null, ended_at: endedAt = null, exit_code: exitCode = null } = run;
  return {
    runId: String(run['run_id']),
    orgId: orgId === null ? null : String(orgId),
    command: String(run['command']),
    startedAt: String(run['started_at']),
    endedAt: endedAt === null ? null : String(endedAt),
    exitCode: exitCode === null ? null : Number(exitCode),
    unitsDone: Number(run['units_done']),
    unitsFailed: Number(run['units_failed']),
    rowsWritten: Number(run['rows_written']),
    requests: Number(run['requests']),
    retries: Number(run['retries']),
  };
}

/** A row of `sessions`. */
export type SessionRow = RowOf<typeof sessions>;

/**
 * Stores a created session, or replaces the stored one. While it is stored, nobody is listed who is to be kept out.
 * @param rowFor makes the row, without whom the gate is to keep out by now.
 * @returns false if the row has text that cannot be stored.
 */
export function recordSession(
  warehouse: Pick<Warehouse, 'oneAtATime' | 'transact'>,
  rowFor: (keptOut: KeptOut) => SessionRow,
): Promise<boolean> {
  function* steps(): Steps<boolean> {
    const row = rowFor(yield* readKeptOutSteps());
    if (!isStorable(row)) return false;
    yield { table: sessions, rows: [encodeSession(row)] };
    yield* noteAct('sessions', new Date(row.created_at));
    return true;
  }
  return warehouse.oneAtATime(LISTING, () => warehouse.transact('record a session in', steps));
}
