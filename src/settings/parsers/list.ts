import { UsageError } from '../../core/errors.ts';

/** A parser for words of a list, separated by commas, each once, in the list's order; `none` for none of them. */
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
