import type { RunLock, Warehouse } from '../warehouse/port.ts';
import type { ChangeSet } from './change-set.ts';
import type { CopyEvent, CopyObserver } from './events.ts';

/** Rows of one table that a copy has written and removed. */
export interface TableCounts {
  written: number;
  removed: number;
}

export interface CopyCounts {
  unitsMoved: number;
  unitsUnchanged: number;
  unitsRemoved: number;
  rowsWritten: number;
  /** By table name; unchanged tables are missing. */
  readonly tables: Map<string, TableCounts>;
}

/** Numbers of units by outcome. */
export type UnitOutcomes = Pick<CopyCounts, 'unitsMoved' | 'unitsUnchanged' | 'unitsRemoved'>;

/** For a transaction that completes no unit. */
export const NO_UNITS: UnitOutcomes = { unitsMoved: 0, unitsUnchanged: 0, unitsRemoved: 0 };

/** Writes to the destination of a copy. */
export interface CopyWriter {
  /**
   * Commits changes, if there are any, in one transaction, and counts them with the units that it completes.
   * @throws {BusyError} when the lock was lost with its connection and another program has taken it.
   */
  commit(changes: ChangeSet, about: Commit): Promise<void>;
  readonly counts: CopyCounts;
}

/** Describes a transaction. */
export type Commit = Pick<Extract<CopyEvent, { type: 'copied' }>, 'what' | 'firstDay' | 'lastDay'> & {
  readonly units: UnitOutcomes;
};

export interface CopyWriterOptions {
  readonly destination: Warehouse;
  /** The exclusive lock of the destination. */
  readonly lock: RunLock;
  readonly observe: CopyObserver;
}

/** Creates the writer for a warehouse that this process has locked exclusively. */
export function createCopyWriter({ destination, lock, observe }: CopyWriterOptions): CopyWriter {
  const counts: CopyCounts = { ...NO_UNITS, rowsWritten: 0, tables: new Map() };
  return {
    counts,
    commit: async (changes, { what, firstDay, lastDay, units }) => {
      // Claiming nothing takes the lock again if the connection had to be renewed.
      await lock.claim([]);
      const rowsWritten = changes.rows === 0 ? 0 : await destination.change(changes.changes);
      counts.unitsMoved += units.unitsMoved;
      counts.unitsUnchanged += units.unitsUnchanged;
      counts.unitsRemoved += units.unitsRemoved;
      counts.rowsWritten += rowsWritten;
      count(counts, changes);
      const done = units.unitsMoved + units.unitsUnchanged + units.unitsRemoved;
      if (done > 0 || rowsWritten > 0)
        observe({ type: 'copied', what, firstDay, lastDay, units: done, rowsWritten });
    },
  };
}

function count({ tables }: CopyCounts, { changes }: ChangeSet): void {
  const add = (name: string, kind: keyof TableCounts, rows: number) => {
    const counts = tables.get(name) ?? { written: 0, removed: 0 };
    counts[kind] += rows;
    tables.set(name, counts);
  };
  for (const { table, rows } of changes.put) add(table.name, 'written', rows.length);
  for (const { table, rows } of changes.remove) add(table.name, 'removed', rows.length);
}
