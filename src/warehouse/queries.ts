import type { SQL } from '../../schema/query.ts';
import type { TableRows, Value } from './rows.ts';

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
