/** Replaces an address that is dropped. */
export const DROPPED = '[dropped]';

/** Half of the digits of a SHA-256: nobody finds two values with the same. */
export const PSEUDONYM_DIGITS = 32;
const PSEUDONYM = new RegExp(`^erased-[0-9a-f]{${PSEUDONYM_DIGITS}}$`);

/** True for what replaces an erased value. */
export function isPseudonym(text: string): boolean {
  return PSEUDONYM.test(text);
}
