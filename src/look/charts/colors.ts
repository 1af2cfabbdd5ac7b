/** The custom properties of the page's style that drawings use. The style defines them for light, dark, print and forced colors. */
export const COLORS = {
  bar: 'var(--bar)',
  barWeekend: 'var(--bar-weekend)',
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
