/** How far the campaigns go. `DAYWALK_CHAOS=1` takes the time for everything, and `DAYWALK_CHAOS_KILLS=n` bounds it again. */
export const IS_LONG = process.env['DAYWALK_CHAOS'] === '1';
const BOUND = process.env['DAYWALK_CHAOS_KILLS'];

/** Kills of one campaign at most: `all` in the long one, `few` in the suite. */
export function killsMax(all: number, few: number): number {
  if (!IS_LONG) return few;
  return BOUND === undefined ? all : Math.min(all, Number(BOUND));
}

/** Says how far a long campaign is. */
export function tellProgress(text: string): void {
  if (IS_LONG) process.stderr.write(`${text}\n`);
}

/** At most `max` of the items, spread evenly over all. */
export function spread<Item>(items: readonly Item[], max: number, random: () => number): Item[] {
  if (items.length <= max) return [...items];
  const stride = items.length / max;
  const offset = random() * stride;
  return Array.from({ length: max }, (_, index) => items[Math.floor(offset + index * stride)]).filter(
    (item) => item !== undefined,
  );
}
