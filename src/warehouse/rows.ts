import type { AnyTable } from '../../schema/define.ts';

/** A value as a row holds it: text, number or NULL. Flags are 0 or 1, instants and days are text, JSON is text. */
export type Value = string | number | null;

/** The values of one row, in the order of the columns of its table. */
export type Row = readonly Value[];

/** All rows of one table that belong to one unit; none is a statement too: the unit has no rows there. */
export interface TableRows {
  readonly table: AnyTable;
  readonly rows: readonly Row[];
}

/** As {@link TableRows}, in the encoding that their digest is made of: small, and cheap to hand to a thread. */
export interface EncodedRows {
  readonly table: AnyTable;
  /** How many rows there are. */
  readonly count: number;
  /** How many of them say that something happened, see `schema/active.ts`. */
  readonly active: number;
  /** Texts of JSON arrays, some hundred rows each, see `encodedChunks` in `schema/digest.ts`. */
  readonly texts: readonly string[];
}
