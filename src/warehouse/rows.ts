import type { AnyTable } from '../../schema/define.ts';
import { CHUNK_ROWS, encodedChunks } from '../../schema/digest.ts';
import type { SQL } from '../../schema/query.ts';
import { activityTest, type Value, type Values } from '../../schema/row.ts';

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
  /** How many of them show activity, see `schema/row.ts`. */
  readonly active: number;
  /** Texts of JSON arrays, some hundred rows each, see `encodedChunks` in `schema/digest.ts`. */
  readonly texts: readonly string[];
}

/** A row that a query returned: its values by the names of the columns. */
export type QueryRow = Readonly<Record<string, Value>>;

/**
 * The steps of a transaction, written once for every database: a generator that yields statements, and rows to insert or
 * update, and receives the rows that each statement returned. It may run again from the start after a conflict, so it must
 * read all that it needs from the database.
 *
 * @example
 * function* clearPrices(orgId: string): Steps<void> {
 *   const [row] = yield sql`SELECT COUNT(*) AS stored FROM prices WHERE org_id = ${orgId}`;
 *   if (row?.['stored'] !== 0) yield sql`DELETE FROM prices WHERE org_id = ${orgId}`;
 * }
 */
export type Steps<Result> = Generator<SQL | TableRows, Result, readonly QueryRow[]>;

/** Reads with the steps of a transaction. */
export async function runReads<Result>(
  warehouse: { select(query: SQL): Promise<readonly QueryRow[]> },
  steps: Steps<Result>,
): Promise<Result> {
  let step = steps.next();
  while (step.done !== true) {
    if ('table' in step.value) throw new TypeError('steps that only read have yielded rows to write');
    step = steps.next(await warehouse.select(step.value));
  }
  return step.value;
}

/** Encodes rows in the form from which their digest is computed. */
export function encodeRows({ table, rows }: TableRows): EncodedRows {
  const active = rows.filter(activityTest(table)).length;
  return { table, count: rows.length, active, texts: [...encodedChunks(rows)] };
}

/** Encodes rows one by one, so that only their encoding stays in memory. */
export class RowEncoder {
  readonly #table: AnyTable;
  readonly #texts: string[] = [];
  #pending: Values[] = [];
  readonly #isActive: (row: Values) => boolean;
  #count = 0;
  #active = 0;

  constructor(table: AnyTable) {
    this.#table = table;
    this.#isActive = activityTest(table);
  }

  add(row: Values): void {
    this.#count += 1;
    if (this.#isActive(row)) this.#active += 1;
    if (this.#pending.push(row) >= CHUNK_ROWS) this.#encode();
  }

  finish(): EncodedRows {
    if (this.#pending.length > 0) this.#encode();
    return { table: this.#table, count: this.#count, active: this.#active, texts: this.#texts };
  }

  #encode(): void {
    this.#texts.push(JSON.stringify(this.#pending));
    this.#pending = [];
  }
}

/** Decodes rows in chunks of some hundred, so that few are in memory at once. */
export function* decodedChunks({
  texts,
}: Pick<EncodedRows, 'texts'>): Generator<readonly Values[], void, void> {
  for (const text of texts) yield JSON.parse(text) as Values[];
}

/** Decodes all rows at once. */
export function decodeRows({ table, texts }: EncodedRows): TableRows {
  return { table, rows: [...decodedChunks({ texts })].flat() };
}

/** Maximum number of rows in a chunk of a scan. */
const ROWS = 1000;
/** The same for tables in which one row may hold a whole record of the service or of a client, up to 8 MB. */
const RECORD_ROWS = 32;

/** Maximum number of rows in memory during a scan of a table. It is smaller for tables with large rows. */
export function scanRowsMax(table: AnyTable): number {
  return Object.values(table.columns).some(({ kind }) => kind === 'record') ? RECORD_ROWS : ROWS;
}
