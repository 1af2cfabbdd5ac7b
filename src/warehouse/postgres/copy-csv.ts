import { decodedChunks } from '../encoded-rows.ts';
import type { EncodedRows, Value, Values } from '../port.ts';

/** The options of COPY for the lists of values below: JSON's `null` stands for NULL. */
export const COPY_OPTIONS = "(FORMAT csv, NULL 'null')";

/** Size of a chunk. Larger chunks cost memory, smaller ones time. */
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
 * The same for the encoded rows of one organization. A JSON list of values is a line of CSV except for what JSON
 * escapes. So a chunk without a backslash, which is the usual case, only loses its brackets.
 */
export function* csvOfEncoded(
  { texts }: Pick<EncodedRows, 'texts'>,
  orgId: string,
): Generator<string, void, void> {
  // Only the end of a row and the start of the next one read like this. A quote inside a text would be escaped, and a
  // quote that ends a text is followed by a comma, with which no id begins.
  const begin = `${JSON.stringify(orgId)},`;
  const isTold = !orgId.startsWith(',');
  for (const text of texts) {
    if (isTold && !text.includes('\\'))
      yield `${text.slice(2, -2).replaceAll(`],[${begin}`, () => `\n${begin}`)}\n`;
    else yield* csvOf([...decodedChunks({ texts: [text] })].flat());
  }
}
