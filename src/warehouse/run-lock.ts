import type { LedgerUnit, UnitKey } from './unit.ts';

export interface LockOptions {
  /**
   * Refuse every other holder, for work on the warehouse as a whole. Without it, workers on PostgreSQL share the plan
   * by claiming units. SQLite has one holder in any case.
   * @default false
   */
  readonly exclusive?: boolean;
}

/** The right to run on a warehouse. Freed by `release`, and by the operating system when the process dies. */
export interface RunLock {
  /**
   * Claims units, so that no other worker pulls them until they are freed. A claim dies with its process. Returns the
   * ledger's rows of the units that were free, as they are after the claim. Other workers hold the rest.
   */
  claim(units: readonly UnitKey[]): Promise<LedgerUnit[]>;
  /** Claims the watch over the settled units of an organization. False while another worker has it. */
  claimWatch(orgId: string): Promise<boolean>;
  /** Frees claimed units, whether they were committed or not. */
  free(units: readonly UnitKey[]): Promise<void>;
  /** Frees everything. */
  release(): Promise<void>;
}
