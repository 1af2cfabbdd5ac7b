import type { Stream } from '../src/core/stream.ts';

/** One column: its kind, its description, and whether its values may be summed over days and groups. */
export interface Column<Kind extends ColumnKind = ColumnKind> {
  readonly kind: Kind;
  readonly doc: string;
  /** Set on numbers only. False for averages, percentiles and distinct counts, whose sum means nothing. */
  readonly additive?: boolean;
  /** The smallest possible value of a published number. */
  readonly least?: number;
  /** The range in which values are expected. The specification does not promise it. */
  readonly usual?: readonly [least: number, most: number];
}

/** The columns of a table, in its order. */
export type Columns = Readonly<Record<string, Column>>;

/**
 * The source of a table's rows: daily analytics, readiness reports, created sessions and hook events, the exporter itself,
 * a person who loaded them (`dimension`), or other tables (`rollup`: recomputed, so it can be lost without harm).
 */
export type TableRole = 'fact' | 'readiness' | 'event' | 'ledger' | 'dimension' | 'rollup';

/** A table, declared once for every database. */
export interface Table<C extends Columns = Columns> {
  readonly name: string;
  readonly doc: string;
  readonly role: TableRole;
  /** The stream whose units fill the table; null for the exporter's own tables. */
  readonly stream: Stream | null;
  /** The primary key, in order. It begins with `org_id` wherever rows belong to an organization. */
  readonly key: readonly string[];
  readonly columns: C;
  /**
   * The fields that lead from a row of the service's answer to the list or map whose elements the table holds.
   * @default none: the table holds the row itself
   */
  readonly inside?: readonly string[];
  /** Pairs of columns of which the first is never greater than the second. */
  readonly ascending?: readonly Ascending[];
  /** Figures of other streams that the rows of a day add up to, see `invariants.ts`. */
  readonly addsUp?: readonly AddsUp[];
}

/** What the rows of a day add up to: a column, or by default their number, and the figure of another stream for the same day. */
export interface AddsUp {
  /** @default the number of rows with activity */
  readonly column?: string;
  readonly of: AnyTable;
  readonly figure: string;
  /** The specification says so. Otherwise only the data of an organization can tell. @default false */
  readonly isSpecified?: boolean;
}

/** A column whose values are at most those of another column: of the same row, or of the row of another table for the same day. */
export interface Ascending {
  readonly smaller: string;
  readonly larger: string;
  /** @default the same table */
  readonly of?: AnyTable;
}

/** A view for BI tools, its SELECT in the dialect of each database. */
export interface View<C extends Columns = Columns> {
  readonly name: string;
  readonly doc: string;
  readonly columns: C;
  readonly select: { readonly sqlite: string; readonly postgres: string };
}

export type AnyTable = Table<Columns>;

function column<Kind extends ColumnKind>(kind: Kind) {
  return (doc: string): Column<Kind> => ({ kind, doc });
}

export const key = column('key');
export const day = column('day');
export const date = column('date');
export const text = column('text');
export const label = column('label');
export const integer = column('integer');
export const amount = column('amount');
export const count = column('count');
export const flag = column('flag');
export const yesNo = column('yesNo');
export const instant = column('instant');
export const moment = column('moment');
export const json = column('json');
export const record = column('record');

/** A published count that may be summed over days and groups. It is at least 0. */
export function metric(doc: string, { least = 0 }: { readonly least?: number } = {}): Column<'metric'> {
  return { kind: 'metric', doc, additive: true, least };
}

/** A published number of distinct people, which must not be summed. It is at least 0. */
export function distinct(doc: string): Column<'metric'> {
  return { kind: 'metric', doc, additive: false, least: 0 };
}

/** A published share of a whole, which must not be summed. It is expected to be 0 to 1. */
export function share(doc: string): Column<'metric'> {
  return { kind: 'metric', doc, additive: false, usual: [0, 1] };
}

/** A published number that must not be summed: an average or a percentile. */
export function ratio(doc: string): Column<'metric'> {
  return { kind: 'metric', doc, additive: false };
}

type AscendingOf<Values extends Columns> = Ascending & { readonly smaller: keyof Values };

const scope = {
  org_id: key('ID of the organization, as the service sends it'),
  date: day('UTC day of the numbers'),
};

const extra = {
  extra: json('JSON object of fields that this version does not know; NULL if there are none'),
};

/**
 * Declares a table of daily analytics rows. Its key is org_id, date and the columns of `by`; its last column is `extra`.
 *
 * @example
 * factTable({ name: 'tools_daily_by_skill', doc: '…', stream: 'tools', by: { name: key('skill') }, values: { count: metric('invocations') } });
 */
export function factTable<Values extends Columns, By extends Columns = Record<never, never>>(spec: {
  name: string;
  doc: string;
  stream: Stream;
  by?: By;
  values: Values;
  inside?: readonly string[];
  ascending?: readonly AscendingOf<Values>[];
  addsUp?: readonly (AddsUp & { readonly column?: keyof Values })[];
}): Table<typeof scope & By & Values & typeof extra> {
  const by = spec.by ?? ({} as By);
  return {
    name: spec.name,
    doc: spec.doc,
    role: 'fact',
    stream: spec.stream,
    key: ['org_id', 'date', ...Object.keys(by)],
    columns: { ...scope, ...by, ...spec.values, ...extra },
    ...(spec.inside && { inside: spec.inside }),
    ...(spec.ascending && { ascending: spec.ascending }),
    ...(spec.addsUp && { addsUp: spec.addsUp }),
  };
}

/** Declares a table that is not by day. Its key is the columns of `by`. */
export function table<By extends Columns, Values extends Columns>(spec: {
  name: string;
  doc: string;
  role: Exclude<TableRole, 'fact'>;
  stream?: Stream;
  by: By;
  values: Values;
  inside?: readonly string[];
  ascending?: readonly AscendingOf<Values>[];
}): Table<By & Values> {
  return {
    name: spec.name,
    doc: spec.doc,
    role: spec.role,
    stream: spec.stream ?? null,
    key: Object.keys(spec.by),
    columns: { ...spec.by, ...spec.values },
    ...(spec.inside && { inside: spec.inside }),
    ...(spec.ascending && { ascending: spec.ascending }),
  };
}

/** The first key column of every table whose rows belong to an organization. */
export const orgColumn = { org_id: scope.org_id };

/** The column that every table of service records ends with. */
export const extraColumn = extra;

/**
 * What a column can hold. A column is declared once with its kind; its type in either database, whether it may be NULL,
 * and the type of its values in a row all follow from this table.
 *
 * - `key`: text that identifies a row.
 * - `day`: `YYYY-MM-DD`. `date`: a day that may be missing.
 * - `label`: `text` that may be missing.
 * - `metric`: a JSON number, exactly as published. `amount`: a number that a person has given, such as a price.
 * - `integer`: a whole number that the specification calls an integer.
 * - `count`: a whole number that this program counts.
 * - `yesNo`: 0 or 1. `flag`: one that may be missing. PostgreSQL has them as booleans.
 * - `instant`: `YYYY-MM-DDTHH:MM:SS.sssZ`. `moment`: an instant that may be missing.
 * - `json`: canonical JSON text.
 * - `record`: JSON text as it was sent. PostgreSQL has it as `json`, because `jsonb` refuses some texts and reorders the
 *   others.
 *
 * Metrics are REAL in SQLite, so that a quotient of whole numbers is the same as in PostgreSQL. SQLite stores a whole
 * number of REAL as an integer, which takes no more room.
 */
export const KINDS = {
  key: { value: 'text', isNullable: false, sqlite: 'TEXT', postgres: 'text' },
  day: { value: 'text', isNullable: false, sqlite: 'TEXT', postgres: 'date' },
  date: { value: 'text', isNullable: true, sqlite: 'TEXT', postgres: 'date' },
  text: { value: 'text', isNullable: false, sqlite: 'TEXT', postgres: 'text' },
  label: { value: 'text', isNullable: true, sqlite: 'TEXT', postgres: 'text' },
  metric: { value: 'number', isNullable: true, sqlite: 'REAL', postgres: 'double precision' },
  amount: { value: 'number', isNullable: false, sqlite: 'REAL', postgres: 'double precision' },
  integer: { value: 'number', isNullable: true, sqlite: 'INTEGER', postgres: 'bigint' },
  count: { value: 'number', isNullable: false, sqlite: 'INTEGER', postgres: 'bigint' },
  flag: { value: 'flag', isNullable: true, sqlite: 'INTEGER', postgres: 'boolean' },
  yesNo: { value: 'flag', isNullable: false, sqlite: 'INTEGER', postgres: 'boolean' },
  instant: { value: 'text', isNullable: false, sqlite: 'TEXT', postgres: 'timestamptz' },
  moment: { value: 'text', isNullable: true, sqlite: 'TEXT', postgres: 'timestamptz' },
  json: { value: 'text', isNullable: true, sqlite: 'TEXT', postgres: 'jsonb' },
  record: { value: 'text', isNullable: false, sqlite: 'TEXT', postgres: 'json' },
} as const satisfies Record<
  string,
  { value: keyof ValueTypes; isNullable: boolean; sqlite: string; postgres: string }
>;

/** One of {@link KINDS}. */
export type ColumnKind = keyof typeof KINDS;

interface ValueTypes {
  text: string;
  number: number;
  flag: 0 | 1;
}

/** The type of a column's values in a row. */
export type ValueOf<Kind extends ColumnKind> = Kind extends ColumnKind
  ?
      | ValueTypes[(typeof KINDS)[Kind]['value']]
      | ((typeof KINDS)[Kind]['isNullable'] extends true ? null : never)
  : never;
