import { graphemesOf } from './graphemes.ts';
import { truncateTo, widthOf } from './width.ts';

export interface WrapFrame {
  readonly width: number;
  /** The start of the first line; the others are indented to the same width. */
  readonly lead: string;
  /** The maximum number of lines; the last one ends with `…` if the text is longer. */
  readonly linesMax: number;
}

/** Wraps a text between words to a width in cells. Breaks only words that are longer than a line. */
export function wrapText(text: string, { width, lead, linesMax }: WrapFrame): string[] {
  const room = Math.max(1, width - widthOf(lead));
  const lines = fill(text, room);
  const shown = lines.slice(0, linesMax);
  if (lines.length > linesMax) shown.push(truncateTo(`${shown.pop() ?? ''} ${lines[linesMax] ?? ''}`, room));
  const indent = ' '.repeat(widthOf(lead));
  return shown.map((line, index) => `${index === 0 ? lead : indent}${line}`);
}

function fill(text: string, room: number): string[] {
  const lines = [''];
  for (const word of text.split(' ').flatMap((part) => breakWord(part, room))) {
    const last = lines.at(-1) ?? '';
    const longer = last === '' ? word : `${last} ${word}`;
    if (widthOf(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function breakWord(word: string, room: number): string[] {
  if (widthOf(word) <= room) return [word];
  const parts = [''];
  for (const grapheme of graphemesOf(word)) {
    const last = parts.at(-1) ?? '';
    if (widthOf(last + grapheme) <= room || last === '') parts[parts.length - 1] = last + grapheme;
    else parts.push(grapheme);
  }
  return parts;
}
