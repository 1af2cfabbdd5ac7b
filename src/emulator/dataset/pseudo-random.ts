const GOLDEN = 0x9e3779b9;
const UINT32 = 4_294_967_296;

/**
 * Mixes 32 bits. It uses only integer operations, so the result is the same on every machine and Node version. For the
 * same reason nothing in the data set uses Math.sin, Math.pow or Math.log.
 */
function mix(bits: number): number {
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

/** Crockford's base 32. Its characters sort by value, so ids sort by their time. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARS = 10;
const RANDOM_CHARS = 16;

/** Creates an opaque id like those of the service: a prefix, ten characters of time, sixteen random characters. */
export function ulid(prefix: string, unixMs: number, seed: number, index: number): string {
  return prefix + timeChars(unixMs) + randomChars(seed, index, RANDOM_CHARS);
}

/** Creates `count` characters of base 32 that depend on seed and index alone. */
export function randomChars(seed: number, index: number, count: number): string {
  let text = '';
  for (let word = 0; text.length < count; word++) {
    let bits = hash(seed, index, word, 0x1d);
    for (let i = 0; i < 6 && text.length < count; i++) {
      text += ALPHABET.charAt(bits & 31);
      bits >>>= 5;
    }
  }
  return text;
}

/** Creates `count` hexadecimal digits that depend on seed and index alone. */
export function hexDigits(seed: number, index: number, count: number): string {
  let text = '';
  for (let word = 0; text.length < count; word++) {
    text += hash(seed, index, word, 0x8e).toString(16).padStart(8, '0');
  }
  return text.slice(0, count);
}

/** Creates a version 4 UUID that depends on seed and index alone. */
export function uuid(seed: number, index: number): string {
  const hex = hexDigits(seed, index, 32);
  const variant = '89ab'.charAt(hash(seed, index, 4, 0xaa) & 3);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function timeChars(unixMs: number): string {
  let rest = unixMs;
  let text = '';
  for (let i = 0; i < TIME_CHARS; i++) {
    const digit = rest % 32;
    text = ALPHABET.charAt(digit) + text;
    rest = (rest - digit) / 32;
  }
  return text;
}
