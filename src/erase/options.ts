import type { Clock } from '../core/clock.ts';
import type { Warehouse } from '../port/index.ts';

/** Where to erase. */
export interface ErasureOptions {
  /** Its exclusive run lock is held. */
  readonly warehouse: Warehouse;
  readonly orgId: string;
  /** Its archives: files, or folders that hold them. */
  readonly archives: readonly string[];
  /** Remove archived rows that cannot be read; they may hold the person. Otherwise they end the erasure. */
  readonly dropsDamaged: boolean;
  /** The folder of the spool. */
  readonly spool: string;
  /** How the email policy stores an address, or the address if it stores none: the spool may hold it as it was received. */
  readonly stored: (email: string) => string;
  /** Stores the events of the spool, without the erased. */
  readonly drain: () => Promise<void>;
  /** The file that keeps who was erased apart from warehouse and archive; null for none. */
  readonly erasures: string | null;
  /** Where the warehouse was copied or published to. */
  readonly published: readonly string[];
  /** Publishes those of these places that are lakes of Delta tables again, without earlier versions. Returns them. */
  readonly renewLakes: (places: readonly string[]) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}
