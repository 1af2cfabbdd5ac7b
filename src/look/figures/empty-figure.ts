import type { Result } from '../data/result.ts';
import type { Figure } from '../page/page.ts';
import { sentenceOf } from '../words/sentences.ts';

/** What a figure is called, wherever it stands. */
export interface FigureName {
  /** Anchor on the page, in kebab case. */
  readonly id: string;
  readonly title: string;
  /** How the subtitle begins: `Million`. */
  readonly unit: string;
}

/** A figure that has nothing to show: `empty` says why, and what to do. */
export function emptyFigure(
  { id, title, unit }: FigureName,
  empty: string,
  results: readonly Result[] = [],
): Figure {
  const table = { columns: [], rows: [] };
  return { kind: 'figure', id, title, subtitle: unit, table, tableIs: 'folded', results, empty };
}

/** Why an answer without values has none, as a sentence; `otherwise` is said if its days are stored. */
export function emptinessOf(
  { basis, warnings }: Pick<Result, 'basis' | 'warnings'>,
  otherwise?: string,
): string {
  const { missing, expected } = basis.days;
  if (missing.length === expected) return 'No day of this period is stored.';
  const [warning] = warnings;
  return otherwise ?? (warning === undefined ? 'Nothing occurred in this period.' : sentenceOf(warning));
}
