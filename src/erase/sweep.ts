import type { Passing } from '../erased/index.ts';
import type { Warehouse } from '../port/index.ts';
import type { Tally } from './tally.ts';

/** What is swept out of what. */
export interface Sweep {
  readonly warehouse: Warehouse;
  readonly orgId: string;
  readonly passing: Passing;
  /** The values to erase, by which the database finds the rows that may hold them; '' for every row. */
  readonly values: readonly string[];
  /** Only count. */
  readonly isDryRun: boolean;
  /** Remove archived rows that cannot be read. */
  readonly dropsDamaged: boolean;
  readonly signal: AbortSignal;
  readonly tally: Tally;
}
