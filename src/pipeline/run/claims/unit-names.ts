import { type UnitKey, unitName } from '../../../warehouse/port.ts';

/** Maximum number of units that a message lists by name. */
const NAMES_MAX = 3;

/** Lists units for a message: a few by name, the others as a number. */
export function namesOf(units: readonly UnitKey[]): string {
  const names = units.slice(0, NAMES_MAX).map(unitName);
  const others = units.length - names.length;
  return `${names.join(', ')}${others > 0 ? ` and ${others} more units` : ''}`;
}

/** For example `10 minutes`. */
export function minutesOf(ms: number): string {
  return `${ms / 60_000} minutes`;
}
