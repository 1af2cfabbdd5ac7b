/**
 * Characters that must not reach a terminal: control characters (C0 including ESC, DEL, C1), line and paragraph
 * separators, unpaired surrogates, and invisible format characters, including bidirectional overrides. The two joiners
 * are allowed: emoji and several scripts need them, and they do no harm.
 */
const UNSAFE = /(?![\u200c\u200d])[\u2065\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Makes a text from outside safe to print, on one line: replaces unsafe characters by visible escapes such as `\\x1b`. */
export function escapeForTerminal(text: string): string {
  return text.replace(UNSAFE, (character) => SHORT[character] ?? escapeOf(character));
}

/**
 * Formats a value as JSON that is safe to print. Also escapes what JSON itself does not: DEL, C1 and bidirectional
 * controls. The result parses to the same value, and has no line break unless indented.
 */
export function toSafeJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? 'null';
  return json.replace(UNSAFE, (character) => (character === '\n' ? character : jsonEscapeOf(character)));
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${hex(code, 2)}`;
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 4)}}`;
}

function jsonEscapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${hex(unit, 4)}`).join('');
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

const UNQUOTED = /^[A-Za-z0-9_./:@%+,=-]+$/;

/** Quotes a word for a POSIX shell, if necessary. */
export function shellQuote(word: string): string {
  return UNQUOTED.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const ONE_CELL_EACH = /^[\x20-\x7e]*$/;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;
// The blocks of the characters that Unicode defines as East Asian wide or fullwidth.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;

/** Computes the width of a text in terminal cells. The text must have no control characters. */
export function widthOf(text: string): number {
  if (ONE_CELL_EACH.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemesOf(text)) width += widthOfGrapheme(grapheme);
  return width;
}

/** Cuts a text to a width in cells, with `…` at the end if something was cut. */
export function truncateTo(text: string, widthMax: number): string {
  if (widthOf(text) <= widthMax) return text;
  if (widthMax <= 0) return '';
  let kept = '';
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    width += widthOfGrapheme(grapheme);
    if (width > widthMax - 1) break;
    kept += grapheme;
  }
  return `${kept}…`;
}

/** Pads a text with blanks to a width in cells. */
export function padTo(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'left' ? text + blanks : blanks + text;
}

function widthOfGrapheme(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  return EMOJI.test(grapheme) || WIDE.test(grapheme) ? 2 : 1;
}

interface WrapFrame {
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

let segmenter: Intl.Segmenter | undefined;

/** Splits a text into characters as a person sees them. */
function* graphemesOf(text: string): Generator<string> {
  // Created on first use, because creating it takes a tenth of the start-up time.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}
