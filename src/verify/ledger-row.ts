import { startOfDayMs } from '../core/day.ts';
import type { LedgerUnit } from '../warehouse/port.ts';
import type { Finding } from './finding.ts';
import type { UnitReading } from './unit-reading.ts';

/** A statement of the ledger that is not true. */
export type Contradiction = Pick<Finding, 'what' | 'expected' | 'found'>;

/**
 * Finds what in a row of the ledger contradicts the stored rows and the number of records in quarantine. Columns that a
 * later pull would overwrite anyway (attempts, requests, the text of an error) are not checked.
 */
export function contradictionsOf(
  unit: LedgerUnit,
  reading: UnitReading,
  quarantined: number,
): readonly Contradiction[] {
  return [...contentOf(unit, reading), ...stateOf(unit, reading), ...quarantineOf(unit, quarantined)];
}

function contentOf(unit: LedgerUnit, reading: UnitReading): Contradiction[] {
  const found: Contradiction[] = [];
  // A unit that was never loaded has no digest and must have no rows. An unfinished readiness walk has no digest yet.
  const isUnderWay = unit.kind === 'readiness' && unit.contentSha256 === null;
  const digest = unit.contentSha256 === null && reading.rows === 0 ? null : reading.contentSha256;
  if (!isUnderWay && digest !== unit.contentSha256)
    found.push({ what: 'SHA-256 of the stored rows', expected: unit.contentSha256, found: digest });
  if (reading.rows !== unit.rows)
    found.push({ what: 'number of stored rows', expected: unit.rows, found: reading.rows });
  if (reading.foreignValues > 0)
    found.push({ what: 'values that Daywalk never stores', expected: 0, found: reading.foreignValues });
  return found;
}

function stateOf(unit: LedgerUnit, { isActive }: UnitReading): Contradiction[] {
  const found: Contradiction[] = [];
  const { state, settledAt } = unit;
  const isComplete = state === 'loaded' || state === 'empty' || state === 'quarantined';
  if (isComplete && unit.kind === 'day' && unit.contentSha256 === null)
    found.push({ what: `SHA-256 of a unit that is ${state}`, expected: 'a digest', found: null });
  if (isComplete && unit.kind === 'day' && unit.firstLoadedAt === null)
    found.push({ what: `first load of a unit that is ${state}`, expected: 'an instant', found: null });
  if (unit.kind === 'day' && (state === 'loaded' || state === 'empty') && (state === 'loaded') !== isActive)
    found.push({
      what: 'state that fits the activity in the rows',
      expected: isActive ? 'loaded' : 'empty',
      found: state,
    });
  if (settledAt === null) return found;
  if (state !== 'loaded' && state !== 'empty')
    found.push({ what: 'state of a settled unit', expected: 'loaded or empty', found: state });
  if (settledAt !== unit.lastPulledAt)
    found.push({
      what: 'time of settling is the time of the last pull',
      expected: unit.lastPulledAt,
      found: settledAt,
    });
  if (unit.kind === 'day' && !(Date.parse(settledAt) > startOfDayMs(unit.day)))
    found.push({ what: 'time of settling is after the day', expected: unit.day, found: settledAt });
  return found;
}

function quarantineOf({ state, kind }: LedgerUnit, quarantined: number): Contradiction[] {
  const what = `records in quarantine of a unit that is ${state}`;
  if (state === 'quarantined' && quarantined === 0) return [{ what, expected: 'some', found: 0 }];
  // An unfinished readiness walk puts records into quarantine before its state changes.
  const isClean = kind === 'day' && (state === 'loaded' || state === 'empty');
  return isClean && quarantined > 0 ? [{ what, expected: 0, found: quarantined }] : [];
}
