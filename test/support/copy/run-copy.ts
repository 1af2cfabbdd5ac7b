import { beforeEach } from 'vitest';
import { type CopyRequest, copyWarehouse } from '../../../jobs/copy.ts';
import type { AnyTable } from '../../../schema/define.ts';
import type { Value } from '../../../schema/row.ts';
import { copiedTables } from '../../../schema/tables.ts';
import type { CopyEvent, CopyReport } from '../../../src/copy/events.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { LAST_MARKS } from '../../../src/marks/index.ts';
import { DEFAULT_SETTINGS } from '../../../src/settings/settings.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { type Database, needsSessions, onEachDatabase } from '../warehouse/each-database.ts';

/** Declares the same tests for every database in which one connection can read while another writes, as a copy does. */
export function onEachCopyable(declare: (database: Database) => void): void {
  onEachDatabase((database) => {
    beforeEach(() => needsSessions(database));
    declare(database);
  });
}

/** What a copy did, and what it said meanwhile. */
export interface Copied {
  readonly report: CopyReport;
  readonly events: readonly CopyEvent[];
}

/** How to copy, besides the defaults. */
export interface CopyOptions extends Partial<Omit<CopyRequest, 'to'>> {
  readonly signal?: AbortSignal;
  /** Told what happens, while it happens. */
  readonly onEvent?: (event: CopyEvent) => void;
}

/** Copies one location into another. */
export async function copy(from: string, to: string, options: CopyOptions = {}): Promise<Copied> {
  const { signal = new AbortController().signal, onEvent, ...asked } = options;
  const events: CopyEvent[] = [];
  const observe = (event: CopyEvent) => {
    events.push(event);
    onEvent?.(event);
  };
  const report = await copyWarehouse(
    { ...DEFAULT_SETTINGS, warehouse: from },
    { replace: false, wait: false, ...asked, to },
    { clock: systemClock(), signal, observe },
  );
  return { report, events };
}

/** Every row of every table by name, JSON as the value that it is. */
export type Content = Readonly<Record<string, readonly unknown[][]>>;

/** Everything that a copy moves, the ledger too; or all rows of other tables. */
export async function contentOf(
  location: string,
  tables: readonly AnyTable[] = copiedTables,
): Promise<Content> {
  const warehouse = await openWarehouse(location, { clock: systemClock(), create: false, partial: true });
  try {
    const content: Record<string, unknown[][]> = {};
    for (const table of tables) {
      const kinds = Object.values(table.columns).map(({ kind }) => kind);
      const read = (value: Value, index: number) =>
        kinds[index] === 'json' && typeof value === 'string' ? JSON.parse(value) : value;
      const rows: unknown[][] = [];
      for await (const chunk of warehouse.scan(table)) rows.push(...chunk.map((row) => row.map(read)));
      // Each warehouse lists its own.
      content[table.name] = rows.filter((row) => !row.includes(LAST_MARKS));
    }
    return content;
  } finally {
    await warehouse.close();
  }
}
