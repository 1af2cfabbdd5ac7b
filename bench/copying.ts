import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { AnyTable } from '../schema/define.ts';
import { copiedTables } from '../schema/tables.ts';
import type { Warehouse } from '../src/port/warehouse.ts';
import { csvOf } from '../src/warehouse/postgres/write-rows.ts';
import { activeOf, copyTo, filledFile, type Times, withWarehouse } from './support/answering.ts';
import { type Bench, type Benchmark, NO_POSTGRES } from './support/bench.ts';
import { inTurns, type Measure, ratio, time } from './support/measure.ts';
import type { Postgres } from './support/postgres.ts';
import { childScript, runNode } from './support/process.ts';
import { expectSameCount, rowsOf } from './support/rows.ts';

const COPY_MAX = 2.5;
const AGAIN_MAX = 0.15;
/** At five million rows, one round takes minutes. */
const ROUNDS_MAX = { 1: 3, 4: 1 };

const NAMES = copiedTables.map(({ name }) => name);

/**
 * What copying a warehouse costs against writing the same rows into the same tables, with their keys and indexes. A copy also
 * compares both sides row by row at the end, and computes the rollups of the new warehouse.
 */
export const copying: Benchmark = {
  number: 23,
  title: 'copy ÷ writing the same rows, and a copy of the same again ÷ the first',
  async run(bench) {
    const postgres = await bench.postgres();
    if (postgres === null) return { skipped: NO_POSTGRES };
    const measures: Measure[] = [];
    for (const times of [1, 4] as const) measures.push(...(await copyingAt(bench, postgres, times)));
    return { measures };
  },
};

async function copyingAt(bench: Bench, postgres: Postgres, times: Times): Promise<Measure[]> {
  const file = await filledFile(bench, times);
  const folder = bench.path('rows');
  mkdirSync(folder);
  await withWarehouse(file, (warehouse) => writeRows(warehouse, folder));
  writeFileSync(join(folder, 'tables.sql'), tablesOf(file));
  let [copied, reference, back, inserted] = ['', '', '', ''];
  const lanes = await inTurns(Math.min(bench.rounds, ROUNDS_MAX[times]), {
    copy: async () => {
      copied = await postgres.freshSchema();
      return time(await copyTo(file, postgres.warehouse(copied)));
    },
    COPY: async () => {
      reference = await postgres.copyTables(copied, NAMES);
      return time(await runNode(childScript('copy-rows.mjs'), [folder, postgres.url, reference]));
    },
    again: async () => time(await copyTo(file, postgres.warehouse(copied))),
    back: async () => {
      back = bench.path('back.db');
      return time(await copyTo(postgres.warehouse(copied), back));
    },
    insert: async () => {
      inserted = bench.path('inserted.db');
      return time(await runNode(childScript('insert-rows.mjs'), [folder, inserted]));
    },
  });
  const facts = NAMES.filter((name) => !OWN_TABLES.has(name));
  expectSameCount(await postgres.rows(copied, facts), await postgres.rows(reference, facts));
  expectSameCount(rowsOf(back, facts), rowsOf(inserted, facts));
  const at = activeOf(times);
  return [
    ratio(lanes, ['copy', 'COPY'], { name: `SQLite to PostgreSQL, ${at}`, limit: COPY_MAX }),
    ratio(lanes, ['back', 'insert'], { name: `back, ${at}`, limit: COPY_MAX }),
    ratio(lanes, ['again', 'copy'], { name: `again, ${at}`, limit: AGAIN_MAX }),
    // The server works in processes of its own, whose time is not counted.
  ].map((measure) => ({ ...measure, cpu: null }));
}

/** Tables in which a copy notes itself. */
const OWN_TABLES: ReadonlySet<string> = new Set(['export_state', 'acts']);

/** Writes each table as CSV for COPY and as lines of JSON. */
async function writeRows(warehouse: Warehouse, folder: string): Promise<void> {
  for (const table of copiedTables) await writeTable(warehouse, table, join(folder, table.name));
}

async function writeTable(warehouse: Warehouse, table: AnyTable, path: string): Promise<void> {
  const [csv, json] = ['csv', 'json'].map((ending) => createWriteStream(`${path}.${ending}`));
  for await (const rows of warehouse.scan(table)) {
    const texts = [[...csvOf(rows)].join(''), rows.map((row) => `${JSON.stringify(row)}\n`).join('')];
    for (const [index, stream] of [csv, json].entries())
      if (stream?.write(texts[index]) === false) await once(stream, 'drain');
  }
  for (const stream of [csv, json]) {
    stream?.end();
    if (stream !== undefined) await once(stream, 'close');
  }
}

/** The statements that create the copied tables of a SQLite file, with their indexes. */
function tablesOf(file: string): string {
  const db = new Sqlite(file, { readonly: true });
  try {
    const names = NAMES.map(() => '?').join(', ');
    return db
      .prepare<string[], string>(
        `SELECT sql || ';' FROM sqlite_schema WHERE tbl_name IN (${names}) AND type IN ('table', 'index') AND sql IS NOT NULL
         ORDER BY type DESC`,
      )
      .pluck()
      .all(...NAMES)
      .join('\n');
  } finally {
    db.close();
  }
}
