/** The length of the campaigns: `DAYWALK_CHAOS=1` runs everything, `DAYWALK_CHAOS_KILLS=n` limits it. */
export const IS_LONG = process.env['DAYWALK_CHAOS'] === '1';
const BOUND = process.env['DAYWALK_CHAOS_KILLS'];

/** Returns the most kills of one campaign: `all` in the long form, `few` in the suite. */
export function killsMax(all: number, few: number): number {
  if (!IS_LONG) return few;
  return BOUND === undefined ? all : Math.min(all, Number(BOUND));
}

/** Prints the progress of a long campaign. */
export function printProgress(text: string): void {
  if (IS_LONG) process.stderr.write(`${text}\n`);
}

/**
 * The number of mutated answers: `DAYWALK_FUZZ=1` runs all, `DAYWALK_FUZZ_ANSWERS=n` limits them.
 */
export function answersMax(all: number, few: number): number {
  if (process.env['DAYWALK_FUZZ'] !== '1') return few;
  const bound = process.env['DAYWALK_FUZZ_ANSWERS'];
  return bound === undefined ? all : Math.min(all, Number(bound));
}

/** Picks at most `max` items, spread evenly. */
export function spread<Item>(items: readonly Item[], max: number, random: () => number): Item[] {
  if (items.length <= max) return [...items];
  const stride = items.length / max;
  const offset = random() * stride;
  return Array.from({ length: max }, (_, index) => items[Math.floor(offset + index * stride)]).filter(
    (item) => item !== undefined,
  );
}
