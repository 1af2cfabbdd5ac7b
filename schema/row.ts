import type { AnyTable, ValueOf } from './define.ts';

/** A value as a row holds it: text, number or NULL. Flags are 0 or 1; days, instants and JSON are text. */
export type Value = string | number | null;

/**
 * The values of one row in the order of its table's columns. Rows are digested, sent and stored like this. Write them with
 * {@link encoderOf}; read them with {@link decoderOf} or {@link readerOf}.
 */
export type Values = readonly Value[];

/** The names of a table's columns. */
export type ColumnOf<T extends AnyTable> = Extract<keyof T['columns'], string>;

/**
 * A row of a table: every column by its name, with the type that its declaration gives it.
 *
 * @example
 * const row: RowOf<typeof tables.exportState> = { org_id: '', name: 'watch', value: '{}' };
 */
export type RowOf<T extends AnyTable> = {
  readonly [Name in ColumnOf<T>]: ValueOf<T['columns'][Name]['kind']>;
};

/** A row as a database returned it: every column by its name, its value not checked. */
export type StoredRow<T extends AnyTable> = { readonly [Name in ColumnOf<T>]: Value };

const names = new WeakMap<AnyTable, readonly string[]>();

/** The names of a table's columns, in the order of its rows' values. */
export function columnsOf<T extends AnyTable>(table: T): readonly ColumnOf<T>[] {
  const known = names.get(table) ?? Object.keys(table.columns);
  names.set(table, known);
  return known as readonly ColumnOf<T>[];
}

const additive = new WeakMap<AnyTable, readonly string[]>();

/** The columns of a table that may be added up. */
export function additiveColumns(table: AnyTable): readonly string[] {
  const known =
    additive.get(table) ?? columnsOf(table).filter((name) => table.columns[name]?.additive === true);
  additive.set(table, known);
  return known;
}

/**
 * The positions of columns in the values of a row.
 * @throws {TypeError} for a name that is no column of the table.
 */
export function positionsOf<T extends AnyTable>(table: T, columns: readonly ColumnOf<T>[]): number[] {
  const all = columnsOf(table);
  return columns.map((name) => {
    const position = all.indexOf(name);
    if (position < 0) throw new TypeError(`${table.name} has no column ${name}`);
    return position;
  });
}

/**
 * Makes a function that collects values by name: each from the object at the index that `sourceOf` returns. A missing value
 * becomes NULL.
 *
 * The function is compiled at run time: V8 reads `row["date"]` directly but has to look up `row[name]`, and with look-ups
 * the conversion of records into rows took twice as long. If Node.js forbids code generation, the names are looked up.
 */
export function collectorOf<Sources extends readonly object[]>(
  names: readonly string[],
  sourceOf: (name: string) => number,
): (...sources: Sources) => Values {
  const sources = Array.from(
    { length: Math.max(...names.map(sourceOf)) + 1 },
    (_, index) => `source${index}`,
  );
  const reads = names.map((name) => `${sources[sourceOf(name)]}[${JSON.stringify(name)}] ?? null`);
  try {
    return new Function(...sources, `return [${reads.join(', ')}];`) as (...objects: Sources) => Values;
  } catch (error) {
    if (!(error instanceof EvalError)) throw error;
    return (...objects) => names.map((name) => Reflect.get(objects[sourceOf(name)] ?? {}, name) ?? null);
  }
}

/**
 * Turns rows of a table into values.
 *
 * @example
 * const encode = encoderOf(tables.exportState);
 * encode({ name: 'watch', org_id: '', value: '{}' }); // ['', 'watch', '{}']
 */
export function encoderOf<T extends AnyTable>(table: T): (row: RowOf<T>) => Values {
  return collectorOf<[RowOf<T>]>(columnsOf(table), () => 0);
}

/** Turns values that a database returned into rows with named columns. */
export function decoderOf<T extends AnyTable>(table: T): (values: Values) => StoredRow<T> {
  const columns = columnsOf(table);
  return (values) => {
    const row: Record<string, Value> = {};
    for (const [position, name] of columns.entries()) row[name] = values[position] ?? null;
    return row as StoredRow<T>;
  };
}

/** Picks some columns from the values of a row, in the order of `columns`. */
export function pickerOf<T extends AnyTable>(
  table: T,
  columns: readonly ColumnOf<T>[],
): (values: Values) => Value[] {
  const positions = positionsOf(table, columns);
  return (values) => positions.map((position) => values[position] ?? null);
}

/** Picks the columns of the key, in its order. */
export function keyOf(table: AnyTable): (values: Values) => Value[] {
  return pickerOf(table, table.key);
}

/** Reads one column from the values of a row. */
export function readerOf<T extends AnyTable>(table: T, column: ColumnOf<T>): (values: Values) => Value {
  const [position = 0] = positionsOf(table, [column]);
  return (values) => values[position] ?? null;
}

/**
 * Compares two texts by their UTF-8 bytes, as SQLite (BINARY) and PostgreSQL (COLLATE "C") do. JavaScript compares
 * UTF-16 units, which differs where a surrogate pair meets a character from U+E000 to U+FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) {
      const pairs = Number(isSurrogate(left)) - Number(isSurrogate(right));
      return pairs !== 0 && left >= 0xd800 && right >= 0xd800 ? pairs : left - right;
    }
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Returns a comparison of rows of `table` by their keys. */
export function byKey(table: AnyTable): (a: Values, b: Values) => number {
  const positions = positionsOf(table, table.key);
  return (a, b) => {
    for (const position of positions) {
      const left = a[position];
      const right = b[position];
      if (left === right) continue;
      const order = compareUtf8(String(left), String(right));
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Sorts rows by key. Returns the same array if it is in order already, which is the usual case. */
export function inKeyOrder<Row extends Values>(table: AnyTable, rows: readonly Row[]): readonly Row[] {
  const compare = byKey(table);
  let previous: Row | undefined;
  for (const row of rows) {
    if (previous !== undefined && compare(previous, row) > 0) return [...rows].sort(compare);
    previous = row;
  }
  return rows;
}

/**
 * Columns that count over trailing days. They stay above 0 for a month after the last activity, and change for a month after
 * a restated day.
 */
export const TRAILING_COLUMNS: ReadonlySet<string> = new Set(['weekly_active_users', 'monthly_active_users']);

/** The columns of a table whose numbers, unless 0 or NULL, show that something happened on the day. */
export function activityColumns(table: AnyTable): string[] {
  return columnsOf(table).filter(
    (name) => table.columns[name]?.kind === 'metric' && !TRAILING_COLUMNS.has(name),
  );
}

/** Returns a test that is true for the rows of a table that show activity. */
export function activityTest(table: AnyTable): (row: Values) => boolean {
  const positions = positionsOf(table, activityColumns(table));
  return (row) => positions.some((position) => row[position] !== null && row[position] !== 0);
}

/** All rows of one table that belong to one unit. An empty list means that the unit has no rows in that table. */
export interface TableRows {
  readonly table: AnyTable;
  readonly rows: readonly Values[];
}

/** The last day of a period without an end. */
export const OPEN_END = '9999-12-31';

/** A row that is valid from a day on, such as a price or a person. Without a last day it is valid for ever. */
interface ValidRow {
  readonly valid_from?: unknown;
  readonly valid_to?: unknown;
}

/** The first row that is valid on a day. */
export function validOn<Row extends ValidRow>(rows: readonly Row[], day: string): Row | undefined {
  return rows.find(
    ({ valid_from, valid_to }) => String(valid_from) <= day && day <= String(valid_to ?? OPEN_END),
  );
}
