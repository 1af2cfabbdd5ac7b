import type { Draws } from './hash.ts';

/** A user. Habits, such as the configured servers, depend on the user and not on the day. */
export interface Habits {
  readonly seed: number;
  readonly user: number;
}

/** Distributes `total` completely over at most `slots` indexes, which `place` picks. */
export function spread(
  draws: Draws,
  total: number,
  counts: Int32Array,
  slots: number,
  place: (draws: Draws) => number,
): void {
  counts.fill(0);
  let rest = total;
  for (let slot = 1; rest > 0; slot++) {
    const index = place(draws);
    const count = slot >= slots ? rest : Math.min(rest, Math.ceil(rest * (0.15 + 0.5 * draws.unit())));
    counts[index] = (counts[index] ?? 0) + count;
    rest -= count;
  }
}

/** Returns a function that picks any of `count` indexes with the same probability. */
export function even(count: number): (draws: Draws) => number {
  return (draws) => draws.below(count);
}
