import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import type { Value } from '../../../schema/row.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { tempFile } from '../suite/temp-dir.ts';
import type { Database, Foreign, Place, Relation } from './each-database.ts';
import { type CatalogColumn, relationsOf } from './relations.ts';

/** Warehouses in SQLite files. */
export const sqlite: Database = {
  name: 'SQLite',
  missing: null,
  oneSession: null,
  place: () => sqlitePlace(tempFile()),
  migrated: async () => {
    const path = tempFile();
    // Only its owner may read a warehouse, and so it is created.
    writeFileSync(path, await emptyWarehouse(), { flag: 'wx', mode: 0o600 });
    return sqlitePlace(path);
  },
};

let empty: Promise<Buffer> | undefined;

/** The file of an empty warehouse of this version. To write it takes half of the processor time of migrating one. */
function emptyWarehouse(): Promise<Buffer> {
  empty ??= migrateOne();
  return empty;
}

async function migrateOne(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-test-'));
  try {
    const path = join(folder, 'daywalk.db');
    await (await openWarehouse(path, { clock: systemClock(), create: true })).close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The place at a file path. The caller removes the file. */
export function sqlitePlace(location: string): Place {
  const using = <Result>(use: (db: Foreign) => Promise<Result>) => {
    const db = new Sqlite(location);
    return use(foreign(db)).finally(() => db.close());
  };
  const connect = async () => {
    const db = new Sqlite(location);
    onTestFinished(() => void db.close());
    return foreign(db);
  };
  return {
    location,
    makeEmpty: async () => closeSync(openSync(location, 'wx')),
    query: (sql, ...values) => using((db) => db.query(sql, ...values)),
    execute: (sql, ...values) => using((db) => db.execute(sql, ...values)),
    relations: () => using(relations),
    connect,
    keepOthersFromWriting: async () => {
      const db = await connect();
      await db.execute('BEGIN IMMEDIATE');
      return () => db.execute('COMMIT');
    },
    keep: async () => readFileSync(location),
    put: async (content) => {
      if (Buffer.isBuffer(content)) writeFileSync(location, content);
    },
  };
}

function foreign(db: Sqlite.Database): Foreign {
  return {
    query: async <Row>(sql: string, ...values: Value[]) => db.prepare<Value[], Row>(sql).all(...values),
    execute: async (sql, ...values) => {
      if (values.length === 0) db.exec(sql);
      else db.prepare(sql).run(...values);
    },
  };
}

const COLUMNS = `
SELECT t.name AS relation, t.type = 'view' AS is_view, c.name, lower(c.type) AS type, c."notnull" AS is_required, c.pk
FROM sqlite_master t JOIN pragma_table_info(t.name) c
WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid`;

async function relations({ query }: Foreign): Promise<Relation[]> {
  return relationsOf(await query<CatalogColumn>(COLUMNS));
}
