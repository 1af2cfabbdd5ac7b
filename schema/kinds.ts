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
 * - `flag`: 0 or 1.
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
