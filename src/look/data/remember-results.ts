import type { PageReader } from './reader.ts';
import type { Result } from './result.ts';

/** A reader that works as another one does and keeps its results, in the order of their questions. */
export function rememberResults<Reader extends PageReader>(
  reader: Reader,
): { readonly reader: Reader; readonly asked: readonly Result[] } {
  const asked: Result[] = [];
  const kept = async <Found extends Result>(found: Promise<Found>): Promise<Found> => {
    const result = await found;
    if (!asked.some(({ id }) => id === result.id)) asked.push(result);
    return result;
  };
  return {
    reader: {
      ...reader,
      ask: (question) => kept(reader.ask(question)),
      select: (selection) => kept(reader.select(selection)),
    },
    asked,
  };
}
