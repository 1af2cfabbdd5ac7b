import type { Clock } from '../core/clock.ts';
import type { Warehouse } from '../warehouse/port.ts';

/** Where to erase. */
export interface ErasureOptions {
  /** Its exclusive run lock is held. */
  readonly warehouse: Warehouse;
  readonly orgId: string;
  /** The folders of its archives. */
  readonly archives: readonly string[];
  /** Remove archived rows that cannot be read; they may hold the person. Otherwise they end the erasure. */
  readonly dropsDamaged: boolean;
  /** The folder of the spool. */
  readonly spool: string;
  /** How the email policy stores an address; the spool may hold addresses as they were received. */
  readonly stored: (email: string) => string | null;
  /** Stores the events of the spool, without the erased. */
  readonly drain: () => Promise<void>;
  /** Where the warehouse was copied or published to. */
  readonly published: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}
