import { UsageError } from '../../core/errors.ts';

/** Creates a parser for a comma-separated list of known words. The result holds each word once, in the order of `words`; `none` gives an empty list. */
export function listOf<const Word extends string>(words: readonly Word[]): (text: string) => readonly Word[] {
  return (text) => {
    const given = text === 'none' ? [] : text.split(',').map((word) => word.trim());
    const unknown = given.find((word) => !words.some((known) => known === word));
    if (unknown === undefined) return words.filter((word) => given.includes(word));
    throw new UsageError(`"${unknown}" is not one of ${words.join(', ')}`, {
      hint: `choose from ${words.join(', ')}, separated by commas, or none`,
    });
  };
}
