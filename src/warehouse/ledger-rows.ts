import { isDay } from '../core/day.ts';
import { isDailyStream } from '../core/stream.ts';
import type { Row } from './rows.ts';
import {
  CONFIRMATIONS,
  dateOf,
  dayKey,
  type LedgerUnit,
  pendingUnit,
  readinessKey,
  UNIT_STATES,
  type UnitKey,
  type UnitRecord,
} from './unit.ts';

/** The key columns of a unit, as every table of the ledger stores them: org_id, stream, date. */
export function columnsOf(key: UnitKey): [orgId: string, stream: string, date: string] {
  return [key.orgId, key.stream, dateOf(key)];
}

/** The unit that three key columns name; undefined for one that this version does not know. */
export function keyOfColumns([orgId, stream, date]: Row): UnitKey | undefined {
  if (typeof orgId !== 'string' || typeof stream !== 'string') return undefined;
  if (stream === 'readiness') return date === '' ? readinessKey(orgId) : undefined;
  return isDailyStream(stream) && isDay(date) ? dayKey(orgId, { stream, day: date }) : undefined;
}

/** The row of `export_units` for a unit, in the order of its columns. */
export function rowOfUnit(unit: LedgerUnit): Row {
  return [
    ...columnsOf(unit),
    unit.state,
    unit.rows,
    unit.contentSha256,
    unit.attempts,
    unit.requests,
    unit.firstLoadedAt,
    unit.lastPulledAt,
    unit.changedAt,
    unit.settledAt,
    unit.cursor,
    unit.lastError,
    unit.answersSha256,
    unit.doubtedAt,
    unit.doubt,
    unit.confirmed,
    unit.runId,
    unit.activeUsers,
    unit.watch,
  ];
}

/** The unit that a row of `export_units` describes; undefined for one that this version does not know. */
export function unitOfRow(row: Row): LedgerUnit | undefined {
  const key = keyOfColumns(row);
  const record = recordOfRow(row);
  return key === undefined || record === undefined ? undefined : { ...key, ...record };
}

/** The ledger's row of `key`, read by that key; of a unit that was never pulled where there is no row. */
export function unitOfKey<Key extends UnitKey>(key: Key, row: Row | undefined): Key & UnitRecord {
  const record = row === undefined ? undefined : recordOfRow(row);
  return record === undefined ? pendingUnit(key) : { ...key, ...record };
}

function recordOfRow(row: Row): UnitRecord | undefined {
  const state = UNIT_STATES.find((name) => name === row[3]);
  if (state === undefined) return undefined;
  return {
    state,
    rows: Number(row[4]),
    contentSha256: textOf(row[5]),
    attempts: Number(row[6]),
    requests: Number(row[7]),
    firstLoadedAt: textOf(row[8]),
    lastPulledAt: textOf(row[9]),
    changedAt: textOf(row[10]),
    settledAt: textOf(row[11]),
    cursor: textOf(row[12]),
    lastError: textOf(row[13]),
    answersSha256: textOf(row[14]),
    doubtedAt: textOf(row[15]),
    doubt: textOf(row[16]),
    confirmed: CONFIRMATIONS.find((name) => name === row[17]) ?? null,
    runId: textOf(row[18]),
    activeUsers: typeof row[19] === 'number' ? row[19] : null,
    watch: textOf(row[20]),
  };
}

function textOf(value: Row[number] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
