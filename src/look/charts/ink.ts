/** The custom properties of the page's style that drawings use. The style defines them for light, dark, print and forced colors. */
export const COLORS = {
  bar: 'var(--bar)',
  barWeekend: 'var(--bar-weekend)',
  before: 'var(--before)',
  beforeWeekend: 'var(--before-weekend)',
  accent: 'var(--accent)',
  ink: 'var(--ink)',
  ink2: 'var(--ink-2)',
  ink3: 'var(--ink-3)',
  paper: 'var(--paper)',
  hairline: 'var(--hairline)',
  failed: 'var(--failed)',
  doubted: 'var(--doubted)',
  hatch: 'var(--hatch)',
} as const;

/** Fills of what is not settled: hatching, whose patterns the document holds once. */
export const HATCHED = {
  bar: 'url(#hatch)',
  category: (index: number) => `url(#hatch-${Math.min(index, CATEGORIES)})`,
} as const;

const CATEGORIES = 4;

/** Four categories, and others. */
export function categoryColor(index: number): string {
  return index < CATEGORIES ? `var(--category-${index + 1})` : 'var(--others)';
}

/** The places of names among the colors: a name that means all the others always has the color of others. */
export function categoryPlaces(names: readonly string[], others: string): number[] {
  return names.map((name, index) => (name === others ? CATEGORIES : Math.min(index, CATEGORIES)));
}

/** Characters that no XML document may hold, and halves of pairs. */
const FORBIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be removed
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/** A name beside a drawing cannot turn the text around it, or take more than its place. */
const DIRECTION = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text without what XML forbids and without signs of direction. Templates escape it. */
export function plainText(text: string): string {
  return text.replaceAll(FORBIDDEN, '\ufffd').replaceAll(DIRECTION, '');
}

/** A name from the warehouse as a label: one short line, never empty. */
export function labelOf(name: string, charactersMax = 20): string {
  const characters = [...plainText(name).replaceAll(/\s+/g, ' ').trim()];
  if (characters.length === 0) return 'empty';
  return characters.length <= charactersMax
    ? characters.join('')
    : `${characters.slice(0, charactersMax - 1).join('')}…`;
}

/** Lines of text closer than this overlap. */
export const LINE_PIXELS = 16;
export const CHARACTER_PIXELS = 7.2;

/** A hundredth of a pixel is not seen, and the digits after it take more room than the drawing. */
export function pixels(value: number): number {
  return Math.round(value * 100) / 100;
}
