import { columnsOf, encoderOf, type Value, type Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { isDay } from '../core/day.ts';
import { isDailyStream } from '../core/stream.ts';
import { rewrittenUnit } from '../judge/notes.ts';
import type { QueryRow } from '../port/index.ts';
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
} from '../units/index.ts';

const encodeUnit = encoderOf(tables.exportUnits);

/** The unit's organization, stream and date, the columns that name it in every table of the ledger. */
export function keyValues(key: UnitKey): [orgId: string, stream: string, date: string] {
  return [key.orgId, key.stream, dateOf(key)];
}

/** The unit that the values of its columns name, see {@link keyValues}; undefined for one that this version does not know. */
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
export function unitOfRow(row: QueryRow): LedgerUnit | undefined {
  const key = keyOfValues([row['org_id'] ?? null, row['stream'] ?? null, row['date'] ?? null]);
  const record = recordOf(row);
  return key === undefined || record === undefined ? undefined : keyed(key, record);
}

/** The unit of `key` as its row in the ledger describes it; a pending unit if there is no row. */
export function unitOfKey<Key extends UnitKey>(key: Key, row: QueryRow | undefined): Key & UnitRecord {
  const record = row === undefined ? undefined : recordOf(row);
  return record === undefined ? pendingUnit(key) : keyed(key, record);
}

const COLUMNS = columnsOf(tables.exportUnits);
const CONTENT = COLUMNS.indexOf('content_sha256');
const ANSWERS = COLUMNS.indexOf('answers_sha256');
const WATCH = COLUMNS.indexOf('watch');
const DOUBT = COLUMNS.indexOf('doubt');

/** A row of `export_units` after the rows of its unit were rewritten here, see {@link rewrittenUnit}. */
export function rewrittenRow(row: Values, to: string): Values {
  const before = {
    contentSha256: textOf(row[CONTENT]),
    watch: textOf(row[WATCH]),
    doubt: textOf(row[DOUBT]),
  };
  const unit = rewrittenUnit(before, to);
  return row
    .with(CONTENT, unit.contentSha256)
    .with(ANSWERS, unit.answersSha256)
    .with(WATCH, unit.watch)
    .with(DOUBT, unit.doubt);
}

/** As {@link keyValues}, for a row. */
export function keyColumns(key: UnitKey) {
  return { org_id: key.orgId, stream: key.stream, date: dateOf(key) };
}

function recordOf(row: QueryRow): UnitRecord | undefined {
  const state = UNIT_STATES.find((name) => name === row['state']);
  if (state === undefined) return undefined;
  return {
    state,
    rows: Number(row['rows']),
    contentSha256: textOf(row['content_sha256']),
    attempts: Number(row['attempts']),
    requests: Number(row['requests']),
    firstLoadedAt: textOf(row['first_loaded_at']),
    lastPulledAt: textOf(row['last_pulled_at']),
    changedAt: textOf(row['changed_at']),
    settledAt: textOf(row['settled_at']),
    cursor: textOf(row['cursor']),
    lastError: textOf(row['last_error']),
    answersSha256: textOf(row['answers_sha256']),
    doubtedAt: textOf(row['doubted_at']),
    doubt: textOf(row['doubt']),
    confirmed: CONFIRMATIONS.find((name) => name === row['confirmed']) ?? null,
    runId: textOf(row['run_id']),
    activeUsers: typeof row['active_users'] === 'number' ? row['active_users'] : null,
    watch: textOf(row['watch']),
  };
}

function textOf(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
