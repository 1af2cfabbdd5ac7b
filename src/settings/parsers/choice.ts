import { UsageError } from '../../core/errors.ts';

/** Creates a parser for one of a list of words. */
export function oneOf<const Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word !== undefined) return word;
    throw new UsageError(`"${text}" is not one of ${words.join(', ')}`, {
      hint: `choose from ${words.join(', ')}`,
    });
  };
}

/** Parses a switch: 1 or true, 0 or false. */
export function onOrOff(text: string): boolean {
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw new UsageError(`"${text}" is neither 1 nor 0`, {
    hint: 'give 1 to switch it on, 0 to switch it off',
  });
}
