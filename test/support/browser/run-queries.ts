import Sqlite from 'better-sqlite3';
import pg from 'pg';
import type { Answer } from './evaluate-formula.ts';
import type { PageQuery } from './page-claims.ts';

const INT8 = 20;
const NUMERIC = 1700;
const DATE = 1082;

/** Runs the queries of a page on a connection of its own, as a person would who copies them. */
export async function runQueries(
  location: string,
  queries: readonly PageQuery[],
): Promise<Map<string, Answer>> {
  const ask = location.startsWith('postgres') ? await postgresAsk(location) : sqliteAsk(location);
  try {
    const answers = new Map<string, Answer>();
    const texts = new Map<string, string>();
    for (const query of queries) {
      const known = texts.get(query.id);
      if (known !== undefined && known !== query.sql) throw new Error(`${query.id} stands for two queries`);
      if (known !== undefined) continue;
      texts.set(query.id, query.sql);
      answers.set(query.id, { rows: await ask.rows(query.sql), days: query });
    }
    return answers;
  } finally {
    await ask.close();
  }
}

type Rows = Record<string, unknown>[];

function sqliteAsk(path: string) {
  const db = new Sqlite(path, { readonly: true });
  return {
    rows: async (sql: string) => db.prepare<[], Record<string, unknown>>(sql).all(),
    close: async () => void db.close(),
  };
}

async function postgresAsk(connectionString: string) {
  const types = {
    getTypeParser: (oid: number) => {
      if (oid === DATE) return String;
      return oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid);
    },
  };
  const client = new pg.Client({ connectionString, types });
  await client.connect();
  return {
    rows: async (sql: string): Promise<Rows> => (await client.query<Record<string, unknown>>(sql)).rows,
    close: () => client.end(),
  };
}
