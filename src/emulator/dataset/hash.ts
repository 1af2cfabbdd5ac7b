const GOLDEN = 0x9e3779b9;
const UINT32 = 4_294_967_296;

/**
 * Mixes 32 bits. It uses only integer operations, so the result is the same on every machine and Node version. For the
 * same reason nothing in the data set uses Math.sin, Math.pow or Math.log.
 */
export function mix(bits: number): number {
  let h = bits | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Computes a 32-bit unsigned hash of up to five integers. */
export function hash(a: number, b: number, c = 0, d = 0, e = 0): number {
  let h = mix(a + GOLDEN);
  h = mix(h ^ Math.imul(b + 1, 0x85ebca6b));
  h = mix(h ^ Math.imul(c + 1, 0xc2b2ae35));
  h = mix(h ^ Math.imul(d + 1, 0x27d4eb2f));
  return mix(h ^ Math.imul(e + 1, 0x165667b1));
}

/** Computes a 32-bit unsigned hash of the UTF-16 code units of a text. */
export function hashText(seed: number, text: string): number {
  let h = (seed ^ 0x811c9dc5) | 0;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return mix(h ^ text.length);
}

/** Maps a 32-bit hash to [0, 1). */
export function unitOf(hashed: number): number {
  return hashed / UINT32;
}

/** A sequence of pseudo-random numbers. `restart` lets one object produce many sequences without allocation. */
export class Draws {
  #state = 0;

  /** Starts the sequence of `seed`. */
  restart(seed: number): this {
    this.#state = seed | 0;
    return this;
  }

  /** 32 random bits, unsigned. */
  bits(): number {
    this.#state = (this.#state + GOLDEN) | 0;
    return mix(this.#state);
  }

  /** A number in [0, 1). */
  unit(): number {
    return this.bits() / UINT32;
  }

  /** An integer in [0, count); 0 when count is below 1. `count` is at most 2^21, so that no bit is lost. */
  below(count: number): number {
    return Math.floor((this.bits() * Math.floor(count)) / UINT32);
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.unit() < probability;
  }
}
