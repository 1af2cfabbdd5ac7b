import type { AnyTable } from '../../schema/define.ts';
import type { Clock } from '../core/clock.ts';
import type { ScanScope, Values, Warehouse } from '../warehouse/port.ts';
import { ROWS_WITHOUT_PAUSE_MAX } from './limits.ts';

/** Where rows are read from. */
export interface RowSource {
  readonly warehouse: Pick<Warehouse, 'scan'>;
  readonly clock: Clock;
  /** Aborted when the process has to stop. */
  readonly signal: AbortSignal;
}

/** Reads the rows of a table as `Warehouse.scan` does. Throws the reason of the signal once that is aborted. */
export async function* scanRows(
  { warehouse, clock, signal }: RowSource,
  table: AnyTable,
  scope?: ScanScope,
  columns?: readonly string[],
): AsyncGenerator<readonly Values[]> {
  let rows = 0;
  signal.throwIfAborted();
  for await (const chunk of warehouse.scan(table, scope, columns)) {
    yield chunk;
    signal.throwIfAborted();
    rows += chunk.length;
    if (rows < ROWS_WITHOUT_PAUSE_MAX) continue;
    // SQLite reads without a pause, and signals are handled in pauses only.
    await clock.sleep(0, signal);
    rows = 0;
  }
}
