/** The custom properties of the page's style that drawings use. The style defines them for light, dark, print and forced colors. */
export const COLORS = {
  bar: 'var(--bar)',
  barWeekend: 'var(--bar-weekend)',
  accent: 'var(--accent)',
  ink: 'var(--ink)',
  ink2: 'var(--ink-2)',
  paper: 'var(--paper)',
  hairline: 'var(--hairline)',
  failed: 'var(--failed)',
  doubted: 'var(--doubted)',
} as const;

/** Fills of what is not settled: hatching, whose pattern the page holds once. */
export const HATCHED = { bar: 'url(#hatch)', category: (index: number) => `url(#hatch-${index})` } as const;

/** Four categories, and others. */
export function categoryColor(index: number): string {
  return index < 4 ? `var(--category-${index + 1})` : 'var(--others)';
}
