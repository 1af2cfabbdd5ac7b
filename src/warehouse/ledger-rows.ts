import { isDay } from '../core/day.ts';
import { isStream } from '../core/stream.ts';
import { type LedgerUnit, type Row, UNIT_STATES } from './port.ts';

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
  };
}

function textOf(value: Row[number] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
