import type { Paint, Style } from '../output/terminal.ts';
import { formatNumber } from './numbers.ts';
import { escapeForTerminal, padTo, truncateTo, widthOf } from './text.ts';

/** The content of a cell: text (it is escaped), a number (it is grouped), or nothing. */
type Content = string | number | null;

/** A cell, with its colour if it has one. */
export type Cell = Content | { readonly content: Content; readonly paint: Paint };

interface TableColumn {
  readonly header: string;
  readonly align?: 'left' | 'right';
  /**
   * True for columns that may be cut if the frame is too narrow. Cut numbers and days would be useless.
   * @default false
   */
  readonly shrinks?: boolean;
}

export interface TableFrame {
  /** The maximum width in cells. */
  readonly width: number;
  readonly style: Style;
  /**
   * Blanks before each line.
   * @default 0
   */
  readonly indent?: number;
}

/** A column of numbers. */
export function right(header: string): TableColumn {
  return { header, align: 'right' };
}

/** A column that may be cut if the frame is too narrow. */
export function shrinking(header: string): TableColumn {
  return { header, shrinks: true };
}

const GAP = '  ';
const SHRUNK_MIN = 8;
const ABSENT = '–';

interface Drawn {
  readonly text: string;
  readonly paint: Paint;
}

/** Draws a table: a header and one line per row, none wider than the frame. A string declares a plain column. */
export function renderTable(
  declared: readonly (string | TableColumn)[],
  rows: readonly (readonly Cell[])[],
  frame: TableFrame,
): string[] {
  const columns = declared.map((column) => (typeof column === 'string' ? { header: column } : column));
  const header = columns.map((column) => ({ text: column.header.toUpperCase(), paint: frame.style.dim }));
  const body = rows.map((row) => row.map(drawn));
  const indent = ' '.repeat(frame.indent ?? 0);
  const widths = fittedWidths(columns, [header, ...body], frame.width - indent.length);
  return [header, ...body].map((row) => renderLine(row, columns, widths, indent, frame.width));
}

function drawn(cell: Cell): Drawn {
  const { content, paint } =
    cell !== null && typeof cell === 'object' ? cell : { content: cell, paint: (text: string) => text };
  if (content === null) return { text: ABSENT, paint };
  return { text: typeof content === 'number' ? formatNumber(content) : escapeForTerminal(content), paint };
}

/** Starts with the natural widths, then narrows the widest shrinkable column until the table fits. */
function fittedWidths(
  columns: readonly TableColumn[],
  lines: readonly (readonly Drawn[])[],
  widthMax: number,
): number[] {
  const widths = columns.map((_, index) =>
    lines.reduce((widest, line) => Math.max(widest, widthOf(line[index]?.text ?? '')), 0),
  );
  const shrinkable = columns.flatMap((column, index) => (column.shrinks === true ? [index] : []));
  let excess = widths.reduce((sum, width) => sum + width, GAP.length * (columns.length - 1)) - widthMax;
  while (excess > 0) {
    const widest = shrinkable.reduce(
      (best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      shrinkable[0] ?? -1,
    );
    const width = widths[widest] ?? 0;
    if (width <= SHRUNK_MIN) break;
    widths[widest] = width - 1;
    excess -= 1;
  }
  return widths;
}

function renderLine(
  row: readonly Drawn[],
  columns: readonly TableColumn[],
  widths: readonly number[],
  indent: string,
  widthMax: number,
): string {
  const cells = row.map((cell, index) => {
    const width = widths[index] ?? 0;
    const align = columns[index]?.align ?? 'left';
    return { text: padTo(truncateTo(cell.text, width), width, align), paint: cell.paint };
  });
  const plain = (indent + cells.map((cell) => cell.text).join(GAP)).trimEnd();
  // If even the narrowest table is too wide, the line is cut without colours, so that no escape sequence is cut.
  if (widthOf(plain) > widthMax) return truncateTo(plain, widthMax);
  return (indent + cells.map((cell) => cell.paint(cell.text)).join(GAP)).trimEnd();
}

/** A table of the first items of a list. */
interface Listing<Item> {
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

/** A name and its value. Text is escaped, numbers are grouped. */
export type Field = readonly [name: string, value: string | number, paint?: Paint];

/** Draws names and values, one pair per line. */
export function renderFields(fields: readonly Field[], { width, style, indent = 2 }: TableFrame): string[] {
  const nameWidth = Math.max(...fields.map(([name]) => widthOf(name)));
  return fields.map(([name, value, paint]) => {
    const text = typeof value === 'number' ? formatNumber(value) : escapeForTerminal(value);
    const room = Math.max(1, width - indent - nameWidth - 2);
    const shown = truncateTo(text, room);
    return `${' '.repeat(indent)}${style.dim(padTo(name, nameWidth))}  ${paint === undefined ? shown : paint(shown)}`;
  });
}
