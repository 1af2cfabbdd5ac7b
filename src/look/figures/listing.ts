import { type SQL, sql } from '../../../schema/query.ts';
import { FIRST_DAY, type UtcDay } from '../../core/day.ts';
import type { Stream } from '../../core/stream.ts';
import { spanStart } from '../../expected/index.ts';
import { cellOf, type NumberFormat, type Result, type ShownNumber } from '../numbers.ts';
import type { Cell, Column, Figure, Phrase } from '../page.ts';
import type { PageReader } from '../reader.ts';
import { instantName } from '../words.ts';

/** Rows that a list shows. */
const LISTED_MAX = 50;

/** A column of a list, and its cell in a row of the result. */
export interface ListedColumn extends Column {
  cell(result: Result, row: number): Cell;
}

/** What a list shows, and of which rows. */
interface Listing {
  readonly id: string;
  readonly title: string;
  readonly subtitle: string;
  /** Selects all rows; the list has the first of them in this order. */
  readonly query: SQL;
  /**
   * How many rows the list has.
   * @default 50
   */
  readonly most?: number;
  /** The names of columns that leave no two rows in doubt, with DESC where the largest comes first. */
  readonly order: SQL;
  readonly columns: readonly ListedColumn[];
  /** What to say if there is no row. */
  readonly empty: string;
  readonly notes?: readonly Phrase[];
  readonly streams: readonly Stream[];
  readonly until: UtcDay;
}

/** Rows of a query as a table, with the number of those that the table leaves out. */
export async function listing(reader: PageReader, list: Listing): Promise<Figure> {
  const { id, title, subtitle, columns, streams, until, notes = [], most = LISTED_MAX } = list;
  const result = await reader.select({
    title,
    query: sql`SELECT listed.*, COUNT(*) OVER () AS total FROM (${list.query}
) AS listed ORDER BY ${list.order} LIMIT ${most}`,
    streams,
    from: spanStart(FIRST_DAY, until, reader.filters),
    until,
  });
  const rest = restOf(result);
  const isEmpty = result.rows.length === 0;
  return {
    kind: 'figure',
    id,
    title,
    subtitle,
    table: {
      columns: columns.map(({ cell: _, ...column }) => column),
      rows: result.rows.map((_, row) => columns.map(({ cell }) => cell(result, row))),
    },
    results: [result],
    notes: [
      ...(rest === undefined ? [] : [['And ', rest, ' more; the query without its LIMIT lists them.']]),
      ...(isEmpty ? [] : notes),
    ],
    empty: isEmpty ? list.empty : undefined,
  };
}

function restOf(result: Result): ShownNumber | undefined {
  const total = factOf(result, 0, 'total');
  if (total.value === null || total.value <= result.rows.length) return undefined;
  return {
    ...total,
    value: total.value - result.rows.length,
    formula: { op: 'difference', of: [total.formula, { op: 'rows', result: result.id }] },
  };
}

/** The figure, which shows another query too: one whose numbers are in the sentence of the page. */
export function withResult(figure: Figure, result: Result): Figure {
  return { ...figure, results: [...figure.results, result] };
}

/** A number of the ledger, which is final although days are open. */
export function factOf(
  result: Result,
  row: number,
  column: string,
  { format = 'count', why }: { format?: NumberFormat; why?: string } = {},
): ShownNumber {
  return cellOf(result, row, format, { column, why, open: null });
}

/** A column of texts. */
export function textColumn(
  name: string,
  column: Column,
  shown: (text: string) => string = (text) => text,
): ListedColumn {
  return { ...column, cell: ({ rows }, row) => textCell(rows[row]?.[name], shown) };
}

/** A column of instants. */
export function instantColumn(name: string, column: Column): ListedColumn {
  return textColumn(name, column, instantName);
}

/** A column of numbers of the ledger. */
export function factColumn(
  name: string,
  title: string,
  options?: { format?: NumberFormat; why?: string },
): ListedColumn {
  return { title, align: 'end', cell: (result, row) => factOf(result, row, name, options) };
}

/** A value as text, or a dash. */
export function textCell(value: unknown, shown: (text: string) => string = (text) => text): Cell {
  return typeof value === 'string' && value !== ''
    ? { kind: 'text', text: shown(value) }
    : { kind: 'text', text: '–', isMuted: true };
}
