import { type UnitKey, unitName } from '../../../warehouse/port.ts';

/** Units that a message names one by one. */
const NAMES_MAX = 3;

/** Units as a message names them: a few by name, the others by number. */
export function namesOf(units: readonly UnitKey[]): string {
  const names = units.slice(0, NAMES_MAX).map(unitName);
  const others = units.length - names.length;
  return `${names.join(', ')}${others > 0 ? ` and ${others} more units` : ''}`;
}

/** For example `10 minutes`. */
export function minutesOf(ms: number): string {
  return `${ms / 60_000} minutes`;
}
