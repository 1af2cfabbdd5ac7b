import { elementTexts } from '../core/json-text.ts';

/** Precedes the rows of each page. It cannot occur in JSON, so rows stay as they were received, line breaks included (RFC 7464). */
const SEPARATOR = '\u001e';
const LINE_BREAK = '\n';

/** Joins the rows of pages into one text in UTF-8: of each page, one row or several with commas between. */
export function joinRows(rows: readonly string[]): Buffer {
  // Written in one go: the text of a day would only be copied.
  const marks = SEPARATOR.length + LINE_BREAK.length;
  const bytes = Buffer.allocUnsafeSlow(rows.reduce((sum, row) => sum + Buffer.byteLength(row) + marks, 0));
  let at = 0;
  for (const row of rows) {
    for (const part of [SEPARATOR, row, LINE_BREAK]) at += bytes.write(part, at);
  }
  return bytes;
}

/** The rows of each page in a text of {@link joinRows}. */
export function splitPages(text: string): string[] {
  return text === ''
    ? []
    : text
        .slice(1)
        .split(SEPARATOR)
        .map((row) => row.slice(0, -1));
}

/** Each row in a text of {@link joinRows}. */
export function splitRows(text: string): string[] {
  return splitPages(text).flatMap((page) => elementTexts(`{"data":[${page}]}`, 'data'));
}
