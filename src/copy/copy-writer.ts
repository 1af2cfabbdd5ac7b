import type { AnyTable } from '../../schema/define.ts';
import type { Values } from '../../schema/row.ts';
import { changeRows, type RunLock, type Warehouse } from '../port/index.ts';
import type { CopyEvent, CopyObserver } from './events.ts';
import type { Difference } from './sides.ts';

/** Rows of one table that a copy has written and removed. */
interface TableCounts {
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
type Commit = Pick<Extract<CopyEvent, { type: 'copied' }>, 'what' | 'firstDay' | 'lastDay'> & {
  readonly units: UnitOutcomes;
};

interface CopyWriterOptions {
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
      const rowsWritten = changes.rows === 0 ? 0 : await changeRows(destination, changes.changes);
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

/** A transaction with more rows or characters ends at the next point that does not separate rows that belong together. */
const ROWS_MAX = 20_000;
const CHARACTERS_MAX = 16 * 1024 * 1024;

interface TableChanges {
  readonly put: Values[];
  readonly remove: Values[];
}

/** Collects what one transaction writes and removes. */
export class ChangeSet {
  readonly #tables = new Map<AnyTable, TableChanges>();
  #rows = 0;
  #characters = 0;

  /** Number of rows to write and to remove. */
  get rows(): number {
    return this.#rows;
  }

  /** True when the transaction should end at the next possible point. */
  get isFull(): boolean {
    return this.#rows >= ROWS_MAX || this.#characters >= CHARACTERS_MAX;
  }

  /** Adds differences of one table. */
  add(table: AnyTable, found: readonly Difference[]): void {
    const changes = this.#tables.get(table) ?? { put: [], remove: [] };
    this.#tables.set(table, changes);
    for (const { kind, row } of found) {
      changes[kind].push(row);
      this.#characters += charactersOf(row);
    }
    this.#rows += found.length;
  }

  /** The changes in the form that `changeRows` takes. */
  get changes() {
    const parts = [...this.#tables];
    return {
      put: parts.map(([table, { put }]) => ({ table, rows: put })),
      remove: parts.map(([table, { remove }]) => ({ table, rows: remove })),
    };
  }
}

function charactersOf(row: Values): number {
  return row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}
