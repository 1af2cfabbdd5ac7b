import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import {
  applyDoubt,
  applyFailure,
  applyLook,
  applyReopening,
  type ChangedDay,
  settleDays,
} from '../ledger-transitions.ts';
import type { LedgerDay, ReopenedDay, UnitDoubt, UnitFailure, UnitNotes } from '../port.ts';
import { dayKey } from '../unit.ts';
import { readUnit, readUnitRows, writeUnits } from './ledger.ts';
import type { Link } from './link.ts';
import { lockKey } from './lock-key.ts';

/**
 * Writes the ledger's rows of changed units of one organization, and of other units that settle or open again with
 * them. Returns all written rows. Workers that change the same day take turns, so that the last one sees what the
 * others committed. Call last in a transaction.
 */
export async function writeSettled(link: Link, changed: readonly ChangedDay[]): Promise<LedgerDay[]> {
  const days = changed.map(({ unit }) => unit.day);
  const units = settleDays(changed, await lockDays(link, changed[0]?.unit.orgId ?? '', days));
  await writeUnits(link, units);
  return units;
}

/** Locks days against other workers and returns their units. */
async function lockDays(link: Link, orgId: string, wanted: readonly UtcDay[]): Promise<LedgerDay[]> {
  const days = [...new Set(wanted)];
  if (days.length === 0) return [];
  // All workers use one order, so that they cannot deadlock.
  const locks = days.map((day) => lockKey(link.schema, ['day', orgId, day])).sort();
  await link.query('SELECT pg_advisory_xact_lock(key) FROM pg_catalog.unnest($1::bigint[]) AS wanted(key)', [
    locks,
  ]);
  return readUnitRows(
    link,
    days.flatMap((day) => DAILY_STREAMS.map((stream) => dayKey(orgId, { stream, day }))),
  );
}

/** Records a failed pull, see `Warehouse.failUnit`. */
export async function failUnit(link: Link, failure: UnitFailure): Promise<void> {
  const unit = applyFailure(await readUnit(link, failure.unit), failure);
  if (unit.kind === 'readiness') await writeUnits(link, [unit]);
  else await writeSettled(link, [{ unit, rule: failure.rule, isCommitted: false }]);
}

/** Records a doubt, see `Warehouse.doubtUnit`. */
export async function doubtUnit(link: Link, doubt: UnitDoubt): Promise<LedgerDay> {
  const unit = applyDoubt(await readUnit(link, doubt.unit), doubt);
  await writeSettled(link, [{ unit, rule: doubt.rule, isCommitted: false }]);
  return unit;
}

/** Writes the notes of settled units, see `Warehouse.noteUnits`. */
export async function noteUnits(link: Link, orgId: string, notes: readonly UnitNotes[]): Promise<void> {
  const days = notes.map(({ day }) => day);
  const known = await lockDays(link, orgId, days);
  const looked = notes.flatMap((look) => {
    const unit = known.find(({ stream, day }) => stream === look.stream && day === look.day);
    return unit === undefined ? [] : [applyLook(unit, look)];
  });
  await writeUnits(link, looked);
}

/** Opens settled units again, see `Warehouse.reopenDays`. */
export async function reopenDays(
  link: Link,
  orgId: string,
  days: readonly ReopenedDay[],
): Promise<LedgerDay[]> {
  const known = await lockDays(
    link,
    orgId,
    days.map(({ day }) => day),
  );
  const units = days.flatMap(({ day, streams }) =>
    known.filter((unit) => unit.day === day && streams.includes(unit.stream) && unit.state !== 'pending'),
  );
  const reopened = units.map(applyReopening);
  await writeUnits(link, reopened);
  return reopened;
}
