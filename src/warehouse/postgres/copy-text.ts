import type { Row } from '../port.ts';

/** Text that is sent at once; larger pieces cost memory, smaller ones time. */
const CHUNK_CHARS = 64 * 1024;

const SPECIAL = /[\\\t\n\r]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Rows in the text format of COPY, in chunks: columns parted by tabs, NULL as `\\N`. */
export function* copyText(rows: Iterable<Row>): Generator<string, void, void> {
  let chunk = '';
  for (const row of rows) {
    let separator = '';
    for (const value of row) {
      chunk += separator;
      separator = '\t';
      if (value === null) chunk += '\\N';
      else if (typeof value === 'number') chunk += value;
      else chunk += SPECIAL.test(value) ? escaped(value) : value;
    }
    chunk += '\n';
    if (chunk.length >= CHUNK_CHARS) {
      yield chunk;
      chunk = '';
    }
  }
  if (chunk !== '') yield chunk;
}

function escaped(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}
