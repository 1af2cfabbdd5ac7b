import { decoderOf, encoderOf, type RowOf, type Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { canonicalJson } from '../core/json.ts';
import type { Stream } from '../core/stream.ts';

/** A run, as it begins. */
export interface RunStart {
  readonly runId: string;
  readonly command: string;
  readonly startedAt: Date;
  readonly versions: Readonly<Record<string, string>>;
}

/** A run, as it ends. */
export interface RunEnd {
  readonly runId: string;
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
export interface RunRecord {
  readonly runId: string;
  readonly orgId: string | null;
  readonly command: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly exitCode: number | null;
  readonly unitsDone: number;
  readonly unitsFailed: number;
  readonly rowsWritten: number;
  readonly requests: number;
  readonly retries: number;
}

const encodeRun = encoderOf(tables.exportRuns);
const decodeRun = decoderOf(tables.exportRuns);

/** The values of `export_runs` for a run that begins. */
export function valuesOfStart(run: RunStart): Values {
  return encodeRun({
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
}

/** The columns of `export_runs` that change when a run ends. */
export function columnsOfEnd(run: RunEnd): Partial<RowOf<typeof tables.exportRuns>> {
  return {
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
}

/** The run that the values of `export_runs` describe. */
export function runOfValues(values: Values): RunRecord {
  const run = decodeRun(values);
  return {
    runId: String(run.run_id),
    orgId: run.org_id === null ? null : String(run.org_id),
    command: String(run.command),
    startedAt: String(run.started_at),
    endedAt: run.ended_at === null ? null : String(run.ended_at),
    exitCode: run.exit_code === null ? null : Number(run.exit_code),
    unitsDone: Number(run.units_done),
    unitsFailed: Number(run.units_failed),
    rowsWritten: Number(run.rows_written),
    requests: Number(run.requests),
    retries: Number(run.retries),
  };
}
