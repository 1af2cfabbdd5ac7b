const PLAIN = /^[A-Za-z0-9_./:@%+,=-]+$/;

/** Quotes a word for a POSIX shell, if necessary. */
export function shellQuote(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
