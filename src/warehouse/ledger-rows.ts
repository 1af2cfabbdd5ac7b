import { isDay } from '../core/day.ts';
import { isStream } from '../core/stream.ts';
import { CONFIRMATIONS, type LedgerUnit, type Row, UNIT_STATES } from './port.ts';

/** The row of `export_units` for a unit, in the order of its columns. */
export function rowOfUnit(unit: LedgerUnit): Row {
  return [
    unit.orgId,
    unit.stream,
    unit.day,
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

/** The unit that a row of `export_units` tells of; undefined for one that this version does not know. */
export function unitOfRow(row: Row): LedgerUnit | undefined {
  const [orgId, stream, day] = row;
  const state = UNIT_STATES.find((name) => name === row[3]);
  if (typeof orgId !== 'string' || !isStream(stream) || state === undefined) return undefined;
  if (day !== '' && !isDay(day)) return undefined;
  return {
    orgId,
    stream,
    day,
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
