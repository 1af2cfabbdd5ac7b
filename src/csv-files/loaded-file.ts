import type { Value } from '../../schema/row.ts';
import type { DaySpan } from '../core/day.ts';
import type { Steps } from '../port/index.ts';
import type { Gate } from '../privacy/index.ts';
import type { CsvColumns, CsvFormat, CsvRow } from './read-csv.ts';
import type { ChangeKind, Changes, ComparedBy, ReplacedRows, RowOfLine } from './replace-rows.ts';

/** The types of a kind of CSV file. */
export interface FileTypes {
  readonly columns: CsvColumns;
  /** A row of the table. */
  readonly row: object;
  /** A row and its line, with what else is needed of the line. */
  readonly line: RowOfLine<this['row']>;
  /** What is listed of a change. */
  readonly change: unknown;
  /** What a load prints as JSON: the counts of its changes, and what else it has found. */
  readonly found: Counts;
  /** What a list prints as JSON. */
  readonly listed: unknown;
}

/** The types of a kind of CSV file in which each name has one row. */
export interface RowTypes<Columns extends CsvColumns, Row extends object, Found extends RowChanges<Row>>
  extends FileTypes {
  readonly columns: Columns;
  readonly row: Row;
  readonly line: RowOfLine<Row>;
  readonly change: Change<Row>;
  readonly found: Found;
  readonly listed: Row;
}

/**
 * A kind of CSV file whose rows replace those of an organization in one table: what it may hold, what contradicts, how it is
 * stored and compared, and what a screen shows. The job, the commands and the screen of every kind are made from it.
 */
export interface LoadedFile<Types extends FileTypes>
  extends ReplacedRows<Types['row'], Types['line'], Types['change'], Types['found']> {
  /** What messages call one row, and all of them: `price`, `prices`. A list is JSON under the second. */
  readonly noun: readonly [one: string, all: string];
  readonly format: CsvFormat<Types['columns']>;
  /**
   * True if rows hold email addresses as the policy stores them.
   * @default false
   */
  readonly holdsEmails?: boolean;
  /**
   * True if rows hold what somebody wrote.
   * @default false
   */
  readonly holdsTexts?: boolean;
  /**
   * Under which name one process at a time stores the rows, see `Warehouse.oneAtATime`.
   * @default the noun of all of them
   */
  readonly lock?: string;
  /**
   * Turns the lines of a file into rows, as they pass the gate.
   * @throws {UsageError} that names file, line and remedy of everything that contradicts another line.
   */
  linesOf(rows: readonly CsvRow<Types['columns']>[], storing: Storing): readonly Types['line'][];
  /** What a list prints as JSON, in the order of the key. */
  list(orgId: string): Steps<readonly Types['listed'][]>;
  /**
   * True for a row that stays, is written into files, and is shown in no list.
   * @default false
   */
  isHidden?(listed: Types['listed']): boolean;
  /** The row of a file by which a listed one is loaded again. */
  written(listed: Types['listed']): { readonly [Name in keyof Types['columns'] & string]: Value };
  readonly screen: FileScreen<Types['change'], Types['found'], Types['listed']>;
}

/** How many names a load has changed, and how. */
export type Counts = Partial<Readonly<Record<ChangeKind, number>>>;

/** For whom rows are made. */
export interface Storing {
  readonly orgId: string;
  /** The name of the file in messages. */
  readonly file: string;
  /** What rows pass before they are stored. */
  readonly gate: Gate;
  readonly now: Date;
}

/** What a screen shows of a load and of a list. */
export interface FileScreen<Item, Found extends Counts, Listed> {
  /** How many of the noun a load has found. */
  sizeOf(found: Found): number;
  /** The names of the counts of a load, in their order. */
  readonly counts: readonly (readonly [kind: ChangeKind, name: string])[];
  /**
   * What else a load has found, shown below the counts, one a line.
   * @default nothing: the counts are shown on one line
   */
  factsOf?(found: Found, words: Wording): readonly (readonly [name: string, value: string | number])[];
  /** What a load has changed. */
  readonly changes: ShownRows<Item> & { readonly title?: string; itemsOf(found: Found): readonly Item[] };
  /** What is doubtful about a load, one sentence each. */
  warningsOf?(found: Found, words: Wording): readonly string[];
  readonly list: ShownRows<Listed>;
  /** What a list shows without a row. */
  readonly whenEmpty: string;
}

/** Rows of a table on a screen. */
interface ShownRows<Item> {
  readonly columns: readonly ShownColumn[];
  cellsOf(item: Item, words: Wording): readonly (string | number | null)[];
}

/** A column of a table on a screen. One that shrinks may be cut. */
type ShownColumn = string | { readonly header: string; readonly align?: 'right'; readonly shrinks?: boolean };

/** How a screen writes values. */
export interface Wording {
  number(value: number): string;
  /** A number with its noun: `1 user`, `2,400 users`. */
  counted(value: number, noun: string, plural?: string): string;
  money(amount: number, currency: string): string;
  price(price: number, currency: string): string;
  spans(days: readonly DaySpan[]): string;
  /** A text from outside, without secrets. */
  text(text: string | null): string | null;
  /** The environment variable of a setting. */
  variable(setting: 'emailMode'): string;
}

/** A row that a load has added, removed or changed. */
export interface Change<Row> {
  /** Null if it was added. */
  readonly before: Row | null;
  /** Null if it was removed. */
  readonly after: Row | null;
}

/** What differs between the rows stored before and those loaded now, as JSON. */
export interface RowChanges<Row> {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly unchanged: number;
  /** In the order of their keys. */
  readonly changes: readonly Change<Row>[];
}

/** Compares files in which each name has one row. */
export function oneRowEach<Row>(nameOf: (row: Row) => string): ComparedBy<Row, Change<Row>> {
  return { nameOf, itemsOf: (_, [before = null], [after = null]) => [{ before, after }] };
}

/** The changes of a file in which each name has one row, as JSON. */
export function rowChanges<Row>({ counts, items }: Changes<Change<Row>>): RowChanges<Row> {
  const { added, removed, changed, unchanged } = counts;
  return { added, removed, changed, unchanged, changes: items };
}

/**
 * The screen of a file in which each name has one row. The last column of the list is the value of a row, which is shown
 * before and after a change; the other columns name the row.
 */
export function rowScreen<Row>(
  list: ShownRows<Row>,
): Pick<FileScreen<Change<Row>, RowChanges<Row>, Row>, 'counts' | 'changes' | 'list'> {
  const values = ['before', 'after'].map((header) => ({ header, align: 'right' as const }));
  return {
    counts: (['added', 'changed', 'removed', 'unchanged'] as const).map((kind) => [kind, kind]),
    changes: {
      columns: [...list.columns.slice(0, -1), ...values],
      itemsOf: ({ changes }) => changes,
      cellsOf: ({ before, after }, words) => {
        const [was, is] = [before, after].map((row) => row && list.cellsOf(row, words));
        return [...(is ?? was ?? []).slice(0, -1), was?.at(-1) ?? null, is?.at(-1) ?? null];
      },
    },
    list,
  };
}
