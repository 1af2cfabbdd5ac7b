import type { AnyTable } from '../../schema/define.ts';
import type { ScanScope, Values, Warehouse } from '../warehouse/port.ts';
import { type Difference, differences } from './differences.ts';

/** What a copy reads of its source. */
export type Source = Pick<Warehouse, 'location' | 'organizations' | 'units' | 'scan'>;

/** The two warehouses that a copy reads: the source in one snapshot, and the destination in its current state. */
export interface Sides {
  readonly source: Source;
  /** A second connection to the destination: rows are read here while others are written. */
  readonly stored: Warehouse;
  /** Aborted when the process has to stop. */
  readonly signal: AbortSignal;
}

/** The rows of a table to compare; all by default. */
export interface Part {
  readonly table: AnyTable;
  readonly scope?: ScanScope;
  /** Returns false for rows to leave out. */
  readonly keep?: (row: Values) => boolean;
}

/**
 * Yields the changes that make the destination hold the rows of the source, in key order. Throws the reason of the signal
 * once that is aborted.
 */
export function differencesOf(
  { source, stored, signal }: Sides,
  { table, scope, keep }: Part,
): AsyncGenerator<readonly Difference[]> {
  const rowsOf = (warehouse: Source) => kept(inTurns(warehouse.scan(table, scope), signal), keep);
  return differences(table, rowsOf(source), rowsOf(stored));
}

/** Passes items on one by one. Between two of them signals and timers are handled, however fast the database is. */
export async function* inTurns<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
  for await (const item of items) {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    yield item;
  }
}

async function* kept(
  chunks: AsyncIterable<readonly Values[]>,
  keep: Part['keep'],
): AsyncGenerator<readonly Values[]> {
  for await (const rows of chunks) yield keep === undefined ? rows : rows.filter(keep);
}
