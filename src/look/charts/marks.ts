import type { MarkState } from '../page/page.ts';

/** Side of a mark in pixels. */
export const MARK_SIZE = 12;

/**
 * What all drawings of a document share: the hatching of what is not settled, and the marks of the calendar. A document
 * holds it once, before the first drawing.
 */
export function sharedMarks(): string {
  const hatches = [
    hatch('hatch', 'var(--hatch)'),
    ...[1, 2, 3, 4].map((category) => hatch(`hatch-${category - 1}`, `var(--category-${category})`)),
    hatch('hatch-4', 'var(--others)'),
  ];
  const symbols = Object.entries(MARKS).map(
    ([state, shape]) => `<symbol id="mark-${state}" viewBox="0 0 12 12">${shape}</symbol>`,
  );
  return `<svg class="shared" width="0" height="0" aria-hidden="true" focusable="false"><defs>${hatches.join('')}${symbols.join('')}</defs></svg>`;
}

/** The mark of a state, for legends and tables. Its name stands beside it. */
export function markSvg(state: MarkState): string {
  return `<svg class="mark" width="12" height="12" aria-hidden="true"><use href="#mark-${state}"/></svg>`;
}

const BOX = 'x="0.5" y="0.5" width="11" height="11" rx="2"';

/** Each differs from the others without colour. */
const MARKS: Readonly<Record<MarkState, string>> = {
  loaded: '<rect width="12" height="12" rx="2" fill="var(--bar)"/>',
  empty: `<rect ${BOX} fill="var(--paper)" stroke="var(--ink-3)"/><circle cx="6" cy="6" r="1.25" fill="var(--ink-2)"/>`,
  open: `<rect ${BOX} fill="url(#hatch)" stroke="var(--hatch)"/>`,
  quarantined:
    '<rect width="12" height="12" rx="2" fill="var(--bar)"/><path d="M2.5 9.5l7-7" stroke="var(--ink)" stroke-width="1.5"/>',
  doubted: `<rect width="12" height="12" rx="2" fill="var(--doubted)"/>${sign('?')}`,
  failed: `<rect width="12" height="12" rx="2" fill="var(--failed)"/>${sign('!')}`,
  awaiting: `<rect ${BOX} fill="var(--paper)" stroke="var(--ink-2)"/><path d="M6 3v3l2 1.5" fill="none" stroke="var(--ink-2)"/>`,
  pending: `<rect ${BOX} fill="none" stroke="var(--ink-3)" stroke-dasharray="2 2"/>`,
};

function sign(character: string): string {
  return `<text x="6" y="9.4" text-anchor="middle" font-size="9.5" font-weight="700" fill="var(--paper)">${character}</text>`;
}

function hatch(id: string, color: string): string {
  return `<pattern id="${id}" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="4" height="4" fill="var(--paper)"/><rect width="2" height="4" fill="${color}"/></pattern>`;
}
