import { decodedChunks } from '../encoded-rows.ts';
import type { EncodedRows, Value, Values } from '../port.ts';

/** How the lists of values below are told to COPY: JSON's `null` stands for NULL. */
export const COPY_OPTIONS = "(FORMAT csv, NULL 'null')";

/** Text that is sent at once; larger pieces cost memory, smaller ones time. */
const CHUNK_CHARS = 64 * 1024;

/** Rows as COPY reads them, in chunks. */
export function* csvOf(rows: Iterable<Values>): Generator<string, void, void> {
  let chunk = '';
  for (const row of rows) {
    chunk += `${row.map(field).join(',')}\n`;
    if (chunk.length >= CHUNK_CHARS) {
      yield chunk;
      chunk = '';
    }
  }
  if (chunk !== '') yield chunk;
}

function field(value: Value): string {
  return typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : String(value);
}

/**
 * The same for the encoded rows of one organization. A list of values in JSON is a line of CSV but for what JSON
 * escapes, so a chunk without a backslash, which is the rule, needs no more than its brackets taken away.
 */
export function* csvOfEncoded(
  { texts }: Pick<EncodedRows, 'texts'>,
  orgId: string,
): Generator<string, void, void> {
  // Nothing but the end of a row and the beginning of the next reads like this: a quote in a text would be escaped, and
  // the one that ends a text has a comma after it, which is no beginning of the id.
  const begin = `${JSON.stringify(orgId)},`;
  const isTold = !orgId.startsWith(',');
  for (const text of texts) {
    if (isTold && !text.includes('\\'))
      yield `${text.slice(2, -2).replaceAll(`],[${begin}`, () => `\n${begin}`)}\n`;
    else yield* csvOf([...decodedChunks({ texts: [text] })].flat());
  }
}
