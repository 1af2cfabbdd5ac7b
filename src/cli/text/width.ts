import { graphemesOf } from './graphemes.ts';

const PLAIN = /^[\x20-\x7e]*$/;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;
// The blocks of the characters that Unicode defines as East Asian wide or fullwidth.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;

/** Computes the width of a text in terminal cells. The text must have no control characters. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
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
