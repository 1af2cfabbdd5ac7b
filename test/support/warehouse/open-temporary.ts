import Sqlite, { type Database } from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { FakeClock } from '../clock/fake-clock.ts';
import { tempFile } from '../suite/temp-dir.ts';

/** Opens a warehouse, by default a new one. It is closed when the test ends. */
export async function openTemporary(
  path = tempFile(),
  options: { clock?: Clock; create?: boolean } = {},
): Promise<Warehouse & { readonly path: string }> {
  const { clock = new FakeClock({ auto: true }), create = true } = options;
  const warehouse = await openWarehouse(path, { clock, create });
  onTestFinished(() => warehouse.close());
  return { ...warehouse, path };
}

/** Opens a read connection to a warehouse file, like a BI tool. It is closed when the test ends. */
export function reader(path: string): Database {
  const db = new Sqlite(path, { readonly: true });
  onTestFinished(() => void db.close());
  return db;
}

/** Runs a query and returns its rows as objects. */
export function query(path: string, sql: string, ...values: unknown[]): Record<string, unknown>[] {
  const db = new Sqlite(path, { readonly: true });
  try {
    return db.prepare<unknown[], Record<string, unknown>>(sql).all(...values);
  } finally {
    db.close();
  }
}
