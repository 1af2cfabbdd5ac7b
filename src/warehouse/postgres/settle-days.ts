import { DAILY_STREAMS } from '../../core/stream.ts';
import { afterLook, afterReopening, settledWith } from '../ledger-transitions.ts';
import type { LedgerUnit, ReopenedDay, SettleRule, UnitKey, UnitNotes } from '../port.ts';
import { readUnitRows, writeUnits } from './ledger.ts';
import type { Link } from './link.ts';
import { lockKey } from './lock-key.ts';

/** A unit that has changed. */
export interface ChangedUnit {
  readonly unit: LedgerUnit;
  readonly rule: SettleRule;
  /** It was committed, and may settle by itself. */
  readonly isCommitted: boolean;
}

/**
 * Writes the ledger's rows of units of one organization that have changed, and of others of their days that settle, or
 * open again, with them. Answers all that were written. Workers that change the same day take turns, so that the last one
 * sees what the others committed. Call last in a transaction.
 */
export async function settleUnits(link: Link, changed: readonly ChangedUnit[]): Promise<LedgerUnit[]> {
  const known = await lockedDays(
    link,
    changed.map(({ unit }) => unit),
  );
  const days = [...new Set(changed.map(({ unit }) => unit.day))];
  const units = days.flatMap((day) => {
    const own = changed.filter(({ unit }) => unit.day === day);
    const [first] = own;
    if (first === undefined) return [];
    const committed = new Set(own.flatMap(({ unit, isCommitted }) => (isCommitted ? [unit.stream] : [])));
    return settledWith(
      own.map(({ unit }) => unit),
      known.filter((unit) => unit.day === day),
      first.rule,
      committed,
    );
  });
  await writeUnits(link, units);
  return units;
}

/** The daily units of the days of `keys`, once no other worker changes these days. */
async function lockedDays(link: Link, keys: readonly UnitKey[]): Promise<LedgerUnit[]> {
  const orgId = keys[0]?.orgId ?? '';
  const days = [...new Set(keys.flatMap(({ day }) => (day === '' ? [] : [day])))];
  if (days.length === 0) return [];
  // In one order, so that workers do not wait for each other in a circle.
  const locks = days.map((day) => lockKey(link.schema, ['day', orgId, day])).sort();
  await link.query('SELECT pg_advisory_xact_lock(key) FROM pg_catalog.unnest($1::bigint[]) AS wanted(key)', [
    locks,
  ]);
  return readUnitRows(
    link,
    days.flatMap((day) => DAILY_STREAMS.map((stream) => ({ orgId, stream, day }))),
  );
}

/** Writes what looks at settled units found, see `Warehouse.noteUnits`. */
export async function noteUnits(link: Link, orgId: string, notes: readonly UnitNotes[]): Promise<void> {
  const known = await lockedDays(
    link,
    notes.map((look) => ({ orgId, ...look })),
  );
  await writeUnits(
    link,
    notes.flatMap((look) => {
      const unit = known.find(({ stream, day }) => stream === look.stream && day === look.day);
      return unit === undefined ? [] : [afterLook(unit, look)];
    }),
  );
}

/** Opens settled units again, see `Warehouse.reopenDays`. */
export async function reopenDays(
  link: Link,
  orgId: string,
  days: readonly ReopenedDay[],
): Promise<LedgerUnit[]> {
  const keys = days.flatMap(({ day, streams }) => streams.map((stream) => ({ orgId, stream, day })));
  const known = await lockedDays(link, keys);
  const units = keys.flatMap(({ stream, day }) => {
    const unit = known.find((candidate) => candidate.stream === stream && candidate.day === day);
    return unit === undefined || unit.state === 'pending' ? [] : [afterReopening(unit)];
  });
  await writeUnits(link, units);
  return units;
}
