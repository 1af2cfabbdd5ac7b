import { escapeForTerminal } from './escape.ts';
import { formatNumber } from './quantity.ts';
import type { Paint, Style } from './style.ts';
import { padTo, truncateTo, widthOf } from './width.ts';

/** The content of a cell: text (it is escaped), a number (it is grouped), or nothing. */
export type Content = string | number | null;

/** A cell, with its colour if it has one. */
export type Cell = Content | { readonly content: Content; readonly paint: Paint };

export interface TableColumn {
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
