import type { AnyTable } from '../../schema/define.ts';
import type { RowChanges, Values } from '../warehouse/port.ts';
import type { Difference } from './differences.ts';

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

  /** The changes in the form that `Warehouse.change` takes. */
  get changes(): RowChanges {
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
