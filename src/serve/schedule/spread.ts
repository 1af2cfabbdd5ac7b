const MINUTE_MS = 60_000;
/** Multiples of it spread evenly over 0 to 1 and do not repeat. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9;

/**
 * Spreads the rounds of many installations: returns how long after a tick its round begins, from 0 to below `jitterMs`. The
 * same tick always gives the same delay; another seed, from 0 to 1, gives other delays.
 */
export function spread(jitterMs: number, seed: number): (tick: Date) => number {
  return (tick) => {
    const share = (seed + (tick.getTime() / MINUTE_MS) * GOLDEN_RATIO) % 1;
    return Math.floor(share * jitterMs);
  };
}
