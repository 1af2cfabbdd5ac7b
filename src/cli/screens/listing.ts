import { formatNumber } from '../text/quantity.ts';
import { type Cell, renderTable, type TableColumn, type TableFrame } from '../text/table.ts';

/** A table of the first items of a list. */
export interface Listing<Item> {
  readonly columns: readonly (string | TableColumn)[];
  readonly items: readonly Item[];
  row(item: Item): readonly Cell[];
  readonly shownMax: number;
}

/** Draws the first items of a list as a table, and says how many more there are. Draws nothing for an empty list. */
export function renderListing<Item>(
  { columns, items, row, shownMax }: Listing<Item>,
  frame: TableFrame,
): string[] {
  if (items.length === 0) return [];
  const rows = items.slice(0, shownMax).map((item) => row(item));
  return [...renderTable(columns, rows, frame), ...renderMore(items.length - shownMax, frame)];
}

/** Says how many items are not shown. */
export function renderMore(hidden: number, { style, indent = 0 }: TableFrame): string[] {
  const text = `${' '.repeat(indent)}and ${formatNumber(hidden)} more; --json lists them all`;
  return hidden > 0 ? [style.dim(text)] : [];
}
