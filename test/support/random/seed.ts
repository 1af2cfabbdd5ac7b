/** Numbers from 0 up to 1, the same for the same seed. */
export type Random = () => number;

/** The seed of this run; `DAYWALK_SEED=n` repeats one. */
export const SEED = Number(process.env['DAYWALK_SEED'] ?? Date.now() % 1_000_000);

/** Random numbers from the seed of this run, which is printed. Each `name` has its own sequence. */
export function seeded(name: string): Random {
  process.stderr.write(`DAYWALK_SEED=${SEED} repeats: ${name}\n`);
  let hash = SEED;
  for (const char of name) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  return sequence(hash);
}

/** Random numbers from a number (mulberry32). */
export function sequence(start: number): Random {
  let state = start | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of several. */
export function pick<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(random() * items.length)] ?? items[0];
}
