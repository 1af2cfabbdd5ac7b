import type { RunLock, Warehouse } from '../warehouse/port.ts';
import type { ChangeSet } from './change-set.ts';
import type { CopyEvent, CopyObserver } from './events.ts';

/** What was done to one table. */
export interface TableTally {
  written: number;
  removed: number;
}

/** What was done so far. */
export interface Tally {
  unitsMoved: number;
  unitsUnchanged: number;
  unitsRemoved: number;
  rowsWritten: number;
  /** By name; tables to which nothing was done are missing. */
  readonly tables: Map<string, TableTally>;
}

/** Units by what became of them. */
export type UnitOutcomes = Pick<Tally, 'unitsMoved' | 'unitsUnchanged' | 'unitsRemoved'>;

/** No unit at all: for rows that belong to none, or to one that goes on. */
export const NO_UNITS: UnitOutcomes = { unitsMoved: 0, unitsUnchanged: 0, unitsRemoved: 0 };

/** Where a copy writes. */
export interface Target {
  /**
   * Commits changes, if there are any, in one transaction, and counts them with the units that are done with it.
   * @throws {BusyError} when the lock was lost with its connection, and somebody else has taken it.
   */
  commit(changes: ChangeSet, about: Commit): Promise<void>;
  readonly tally: Tally;
}

/** What a transaction is about. */
export type Commit = Pick<Extract<CopyEvent, { type: 'copied' }>, 'what' | 'firstDay' | 'lastDay'> & {
  readonly units: UnitOutcomes;
};

/** Where a target writes, and what it tells. */
export interface TargetOptions {
  readonly destination: Warehouse;
  /** The exclusive lock of the destination. */
  readonly lock: RunLock;
  readonly observe: CopyObserver;
}

/** A target over a warehouse that is held exclusively. */
export function createTarget({ destination, lock, observe }: TargetOptions): Target {
  const tally: Tally = { ...NO_UNITS, rowsWritten: 0, tables: new Map() };
  return {
    tally,
    commit: async (changes, { what, firstDay, lastDay, units }) => {
      // Claiming nothing takes the lock again where a new connection had to be made.
      await lock.claim([]);
      const rowsWritten = changes.rows === 0 ? 0 : await destination.change(changes.changes);
      tally.unitsMoved += units.unitsMoved;
      tally.unitsUnchanged += units.unitsUnchanged;
      tally.unitsRemoved += units.unitsRemoved;
      tally.rowsWritten += rowsWritten;
      count(tally, changes);
      const done = units.unitsMoved + units.unitsUnchanged + units.unitsRemoved;
      if (done > 0 || rowsWritten > 0)
        observe({ type: 'copied', what, firstDay, lastDay, units: done, rowsWritten });
    },
  };
}

function count({ tables }: Tally, { changes }: ChangeSet): void {
  const add = (name: string, kind: keyof TableTally, rows: number) => {
    const tally = tables.get(name) ?? { written: 0, removed: 0 };
    tally[kind] += rows;
    tables.set(name, tally);
  };
  for (const { table, rows } of changes.put) add(table.name, 'written', rows.length);
  for (const { table, rows } of changes.remove) add(table.name, 'removed', rows.length);
}
