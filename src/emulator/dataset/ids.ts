import { hash } from './hash.ts';

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
