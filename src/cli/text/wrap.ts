import { graphemesOf } from './graphemes.ts';
import { truncateTo, widthOf } from './width.ts';

/** How a text is laid out. */
export interface WrapFrame {
  readonly width: number;
  /** Before the first line; the others are indented as far. */
  readonly lead: string;
  /** Lines at most; what is beyond shows as `…`. */
  readonly linesMax: number;
}

/** A text as lines that fit a width, broken between words, and within a word only where it fills a line by itself. */
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
