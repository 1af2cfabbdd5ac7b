import type { AnyTable } from '../../schema/define.ts';
import type { Value, Values } from '../../schema/row.ts';

export type { Value, Values };

/** All rows of one table that belong to one unit. An empty list means that the unit has no rows in that table. */
export interface TableRows {
  readonly table: AnyTable;
  readonly rows: readonly Values[];
}

/** As {@link TableRows}, encoded as for their digest: small, and cheap to send to a thread. */
export interface EncodedRows {
  readonly table: AnyTable;
  /** How many rows there are. */
  readonly count: number;
  /** How many of them show activity, see `schema/active.ts`. */
  readonly active: number;
  /** Texts of JSON arrays, some hundred rows each, see `encodedChunks` in `schema/digest.ts`. */
  readonly texts: readonly string[];
}
