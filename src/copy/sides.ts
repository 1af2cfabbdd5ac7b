import type { AnyTable } from '../../schema/define.ts';
import type { Row, ScanScope, Warehouse } from '../warehouse/port.ts';
import { type Difference, differences } from './differences.ts';

/** What a copy reads: the source, in one snapshot, and what the destination holds so far. */
export interface Sides {
  readonly source: Warehouse;
  /** A connection of its own: rows are read here while others are written. */
  readonly stored: Warehouse;
  /** Aborted when the process was asked to stop. */
  readonly signal: AbortSignal;
}

/** Which rows of a table are compared; all unless said otherwise. */
export interface Part {
  readonly table: AnyTable;
  readonly scope?: ScanScope;
  /** Leaves rows of the scope out. */
  readonly keep?: (row: Row) => boolean;
}

/**
 * What must be written and removed so that the destination holds the source's rows, in key order, streamed.
 * Throws the signal's reason once it is aborted.
 */
export function differencesOf(
  { source, stored, signal }: Sides,
  { table, scope, keep }: Part,
): AsyncGenerator<readonly Difference[]> {
  const rowsOf = (warehouse: Warehouse) => kept(inTurns(warehouse.scan(table, scope), signal), keep);
  return differences(table, rowsOf(source), rowsOf(stored));
}

/** Hands chunks on one by one. Between two of them signals are heard and timers run, however fast the database is. */
export async function* inTurns<Item>(items: AsyncIterable<Item>, signal: AbortSignal): AsyncGenerator<Item> {
  for await (const item of items) {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    yield item;
  }
}

async function* kept(
  chunks: AsyncIterable<readonly Row[]>,
  keep: Part['keep'],
): AsyncGenerator<readonly Row[]> {
  for await (const rows of chunks) yield keep === undefined ? rows : rows.filter(keep);
}
