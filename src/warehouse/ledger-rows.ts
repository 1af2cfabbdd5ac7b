import {
  decoderOf,
  encoderOf,
  type RowOf,
  type StoredRow,
  type Value,
  type Values,
} from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { isDay } from '../core/day.ts';
import { canonicalJson } from '../core/json.ts';
import { isDailyStream, type Stream } from '../core/stream.ts';
import {
  CONFIRMATIONS,
  type Drift,
  dateOf,
  dayKey,
  keyed,
  type LedgerUnit,
  pendingUnit,
  type QuarantinedRecord,
  readinessKey,
  UNIT_STATES,
  type UnitKey,
  type UnitRecord,
} from './unit.ts';

/** The columns that name a unit in every table of the ledger. */
export const UNIT_COLUMNS = ['org_id', 'stream', 'date'] as const;

const encodeUnit = encoderOf(tables.exportUnits);
const decodeUnit = decoderOf(tables.exportUnits);
const encodeQuarantined = encoderOf(tables.quarantine);
const encodeDrift = encoderOf(tables.schemaDrift);
const encodeRestatement = encoderOf(tables.restatements);

/** The values of {@link UNIT_COLUMNS} for a unit. */
export function keyValues(key: UnitKey): [orgId: string, stream: string, date: string] {
  return [key.orgId, key.stream, dateOf(key)];
}

/** The unit that the values of {@link UNIT_COLUMNS} name; undefined for one that this version does not know. */
export function keyOfValues([orgId, stream, date]: Values): UnitKey | undefined {
  if (typeof orgId !== 'string' || typeof stream !== 'string') return undefined;
  if (stream === 'readiness') return date === '' ? readinessKey(orgId) : undefined;
  return isDailyStream(stream) && isDay(date) ? dayKey(orgId, { stream, day: date }) : undefined;
}

/** The row of `export_units` for a unit. */
export function valuesOfUnit(unit: LedgerUnit): Values {
  // A literal: to add this many properties to a spread object takes V8 a hundred times as long.
  return encodeUnit({
    org_id: unit.orgId,
    stream: unit.stream,
    date: dateOf(unit),
    state: unit.state,
    rows: unit.rows,
    content_sha256: unit.contentSha256,
    attempts: unit.attempts,
    requests: unit.requests,
    first_loaded_at: unit.firstLoadedAt,
    last_pulled_at: unit.lastPulledAt,
    changed_at: unit.changedAt,
    settled_at: unit.settledAt,
    cursor: unit.cursor,
    last_error: unit.lastError,
    answers_sha256: unit.answersSha256,
    doubted_at: unit.doubtedAt,
    doubt: unit.doubt,
    confirmed: unit.confirmed,
    run_id: unit.runId,
    active_users: unit.activeUsers,
    watch: unit.watch,
  });
}

/** The unit that a row of `export_units` describes; undefined for one that this version does not know. */
export function unitOfValues(values: Values): LedgerUnit | undefined {
  const row = decodeUnit(values);
  const key = keyOfValues([row.org_id, row.stream, row.date]);
  const record = recordOf(row);
  return key === undefined || record === undefined ? undefined : keyed(key, record);
}

/** The unit of `key` as its row in the ledger describes it; a pending unit if there is no row. */
export function unitOfKey<Key extends UnitKey>(key: Key, values: Values | undefined): Key & UnitRecord {
  const record = values === undefined ? undefined : recordOf(decodeUnit(values));
  return record === undefined ? pendingUnit(key) : keyed(key, record);
}

/** The values that a record keeps if it was in quarantine before. */
export interface KnownRecord {
  readonly since: string;
  readonly acceptedAt: string | null;
}

/** The row of `quarantine` for a record of a unit. */
export function valuesOfQuarantined(
  unit: UnitKey,
  { recordSha256, reason, path, record }: QuarantinedRecord,
  { since, acceptedAt }: KnownRecord,
): Values {
  return encodeQuarantined({
    ...keyColumns(unit),
    record_sha256: recordSha256,
    reason,
    path,
    record,
    first_seen_at: since,
    accepted_at: acceptedAt,
  });
}

/** The row of `schema_drift` for a place of drift. */
export function valuesOfDrift(
  { orgId, stream }: Pick<UnitKey, 'orgId' | 'stream'>,
  { path, kind, sample }: Drift,
  seenOn: string,
): Values {
  return encodeDrift({ org_id: orgId, stream, path, kind, sample, first_seen_on: seenOn });
}

/** The row of `restatements` for a change of a unit's content; `before` and `after` are JSON texts. */
export function valuesOfRestatement(
  unit: UnitKey,
  restatement: { readonly detected_at: string; readonly before: string; readonly after: string },
): Values {
  return encodeRestatement({ ...keyColumns(unit), ...restatement });
}

function keyColumns(key: UnitKey) {
  return { org_id: key.orgId, stream: key.stream, date: dateOf(key) };
}

function recordOf(row: StoredRow<typeof tables.exportUnits>): UnitRecord | undefined {
  const state = UNIT_STATES.find((name) => name === row.state);
  if (state === undefined) return undefined;
  return {
    state,
    rows: Number(row.rows),
    contentSha256: textOf(row.content_sha256),
    attempts: Number(row.attempts),
    requests: Number(row.requests),
    firstLoadedAt: textOf(row.first_loaded_at),
    lastPulledAt: textOf(row.last_pulled_at),
    changedAt: textOf(row.changed_at),
    settledAt: textOf(row.settled_at),
    cursor: textOf(row.cursor),
    lastError: textOf(row.last_error),
    answersSha256: textOf(row.answers_sha256),
    doubtedAt: textOf(row.doubted_at),
    doubt: textOf(row.doubt),
    confirmed: CONFIRMATIONS.find((name) => name === row.confirmed) ?? null,
    runId: textOf(row.run_id),
    activeUsers: typeof row.active_users === 'number' ? row.active_users : null,
    watch: textOf(row.watch),
  };
}

function textOf(value: Value): string | null {
  return typeof value === 'string' ? value : null;
}

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

/** The number of rows of one table in a unit, and the sum of each additive column; null if all its values are NULL. */
export interface TableSums {
  readonly name: string;
  readonly sums: Readonly<Record<string, number | null>>;
}

/**
 * The text that a restatement stores for a unit, once for the content before the change and once for the content after
 * it: the number of rows and the sum of each additive column of the first table, the same for each further table under
 * `breakdowns`, and the digest, which shows changes that no sum shows.
 */
export function restatementText(tables: readonly TableSums[], contentSha256: string | null): string {
  const [main, ...breakdowns] = tables;
  return JSON.stringify({
    ...main?.sums,
    rows: tables.reduce((total, { sums }) => total + (sums['rows'] ?? 0), 0),
    content_sha256: contentSha256,
    breakdowns: Object.fromEntries(breakdowns.map(({ name, sums }) => [name, sums])),
  });
}
