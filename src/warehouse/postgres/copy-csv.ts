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
 * As {@link csvOf}, for the encoded rows of one organization. A JSON list of values differs from a line of CSV only in its
 * brackets and escapes. So a chunk without a backslash, the usual case, only loses its brackets.
 */
export function* csvOfEncoded(
  { texts }: Pick<EncodedRows, 'texts'>,
  orgId: string,
): Generator<string, void, void> {
  // `],[` and the ID in quotes occur together only between two rows. Inside a text, the first quote of the ID would be
  // escaped, or would end the text; then a comma follows, and the ID does not begin with one.
  const begin = `${JSON.stringify(orgId)},`;
  const isUnambiguous = !orgId.startsWith(',');
  for (const text of texts) {
    if (isUnambiguous && !text.includes('\\'))
      yield `${text.slice(2, -2).replaceAll(`],[${begin}`, () => `\n${begin}`)}\n`;
    else yield* csvOf([...decodedChunks({ texts: [text] })].flat());
  }
}
