const PLAIN = /^[A-Za-z0-9_./:@%+,=-]+$/;

/** A word as a POSIX shell takes it back. */
export function shellQuote(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
