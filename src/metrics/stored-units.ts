import { type SQL, sql } from '../../schema/query.ts';
import type { LedgerUnit, UnitState } from '../warehouse/port.ts';

/** States in which the rows of a unit are an answer of the service, even if there are none. */
const STORED_STATES: readonly UnitState[] = ['loaded', 'empty', 'quarantined', 'doubted'];

/** The fields of a unit that tell whether it is stored. */
type Standing = Pick<LedgerUnit, 'state' | 'rows' | 'firstLoadedAt'>;

/**
 * True if the warehouse knows the numbers of a unit: its state says so, or a pull failed after an earlier one had stored
 * rows. A unit that awaits the daily batch is not stored, although it may hold rows of zeros.
 */
export function isStored({ state, rows, firstLoadedAt }: Standing): boolean {
  return STORED_STATES.includes(state) || (rows > 0 && firstLoadedAt !== null);
}

/** The condition of {@link isStored} in SQL, over `export_units` under an alias. */
export function storedUnit(alias: string): SQL {
  const unit = sql.raw(alias);
  const states = sql.raw(STORED_STATES.map((state) => `'${state}'`).join(', '));
  return sql`(${unit}.state IN (${states}) OR (${unit}.rows > 0 AND ${unit}.first_loaded_at IS NOT NULL))`;
}

/** True if a unit is stored and has activity. An empty unit is stored but not loaded. */
export function isLoaded(unit: Standing): boolean {
  const { state, rows } = unit;
  if (state === 'empty' || state === 'awaiting') return false;
  return state === 'loaded' || (isStored(unit) && rows > 0);
}

/** The condition of {@link isLoaded} in SQL, over `export_units` under an alias. */
export function loadedUnit(alias: string): SQL {
  const unit = sql.raw(alias);
  return sql`(${unit}.state = 'loaded' OR (${unit}.state NOT IN ('empty', 'awaiting') AND ${unit}.rows > 0 AND ${storedUnit(alias)}))`;
}
