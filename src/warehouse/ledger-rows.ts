import { decoderOf, encoderOf, type StoredRow, type Value, type Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { isDay } from '../core/day.ts';
import { isDailyStream } from '../core/stream.ts';
import type { Drift, QuarantinedRecord } from './commits.ts';
import {
  CONFIRMATIONS,
  dateOf,
  dayKey,
  keyed,
  type LedgerUnit,
  pendingUnit,
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
