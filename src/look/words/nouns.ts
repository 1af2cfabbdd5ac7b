import type { ShownNumber } from '../page/numbers.ts';

/** The word that follows a number: the first for one thing, the second for none or several. */
export function nounFor({ value }: Pick<ShownNumber, 'value'>, one: string, several: string): string {
  return value === 1 ? one : several;
}
