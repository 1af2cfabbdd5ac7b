import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { FIRST_DAY, shiftDay } from '../../src/core/day.ts';
import { runExport } from './daywalk.ts';
import type { Service } from './service.ts';

const DAYS = 60;

/** The prepared pages: the users of 60 days. */
export const USERS_OF_60_DAYS = [
  'backfill',
  '--from',
  FIRST_DAY,
  '--until',
  shiftDay(FIRST_DAY, DAYS - 1),
  '--streams',
  'users',
];

/** The same days of every stream, and the readiness reports. */
export const ALL_OF_60_DAYS = USERS_OF_60_DAYS.slice(0, -2);

/** The pages that the exporter requests, as files. */
export interface Pages {
  readonly service: Service;
  /** Files `00001.json` and so on, the pages of a day one after the other. */
  readonly folder: string;
  /** A file with their URLs, as a JSON list. */
  readonly urls: string;
  /** A file with the SQL of their two tables. */
  readonly tables: string;
}

/** Pulls the pages of an export of users once to list them, and once more to store them. */
export async function preparePages(
  service: Service,
  folder: string,
  args: readonly string[] = USERS_OF_60_DAYS,
): Promise<Pages> {
  const warehouse = `${folder}.db`;
  await service.forget();
  await runExport(service, warehouse, args);
  const { recent } = await service.journal();
  const paths = [...new Set(recent.map(({ path, query }) => `${path}?${query}`))].toSorted(byDay);
  mkdirSync(folder);
  for (const [index, path] of paths.entries()) {
    const response = await fetch(service.url + path, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    const name = `${String(index + 1).padStart(5, '0')}.json`;
    writeFileSync(join(folder, name), await response.text());
  }
  const [urls, tables] = [`${folder}.urls.json`, `${folder}.sql`];
  writeFileSync(urls, JSON.stringify(paths.map((path) => service.url + path)));
  writeFileSync(tables, tablesOf(warehouse));
  rmSync(warehouse);
  return { service, folder, urls, tables };
}

function byDay(a: string, b: string): number {
  const dayOf = (path: string) => /startDate=([\d-]+)/.exec(path)?.[1] ?? '';
  return dayOf(a).localeCompare(dayOf(b));
}

function tablesOf(warehouse: string): string {
  const db = new Sqlite(warehouse, { readonly: true });
  try {
    const statements = db
      .prepare<[], string>(
        `SELECT sql FROM sqlite_master WHERE name IN ('user_daily', 'user_daily_languages')`,
      )
      .pluck()
      .all();
    return statements.join(';\n');
  } finally {
    db.close();
  }
}
