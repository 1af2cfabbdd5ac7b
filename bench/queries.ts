import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { exampleQueries } from '../schema/reference/examples.ts';
import { filledWarehouses, SIZE } from './support/answering.ts';
import { type Bench, type Benchmark, NO_POSTGRES } from './support/bench.ts';
import { inTurns, type Measure, middle } from './support/measure.ts';

const SECONDS_MAX = 2;

/** Queries in addition to those of docs/warehouse.md. */
const OTHERS = {
  joinWithUsers: `SELECT u.user_email, SUM(d.sessions) AS sessions, SUM(d.billable_tokens) AS billable_tokens
FROM user_daily d JOIN users u ON u.org_id = d.org_id AND u.user_id = d.user_id
GROUP BY u.user_id, u.user_email ORDER BY sessions DESC, u.user_id LIMIT 10`,
  oneUser: `SELECT date, sessions, billable_tokens FROM user_daily
WHERE org_id = (SELECT MIN(org_id) FROM user_daily) AND user_id = (SELECT MAX(user_id) FROM user_daily) ORDER BY date`,
};

const QUERIES: readonly (readonly [name: string, sql: string])[] = [
  ...Object.values(exampleQueries).map(({ id, sql }) => [id, sql] as const),
  ...Object.entries(OTHERS),
];

/** Runs a query to its last row. */
type Ask = (sql: string) => Promise<unknown>;

/** Duration of analysts' queries on both databases. */
export const queries: Benchmark = {
  number: 14,
  title: `Queries of docs/warehouse.md at ${SIZE}`,
  async run(bench) {
    const postgres = await bench.postgres();
    if (postgres === null) return { skipped: NO_POSTGRES };
    const { file, location } = await filledWarehouses(bench, postgres);
    return {
      measures: [
        ...(await inSqlite(file, (ask) => measured(bench, 'SQLite', ask))),
        ...(await inPostgres(location, (ask) => measured(bench, 'PostgreSQL', ask))),
      ],
    };
  },
};

async function measured(bench: Bench, database: string, ask: Ask): Promise<Measure[]> {
  const measures: Measure[] = [];
  for (const [name, sql] of QUERIES) {
    const lanes = await inTurns(bench.rounds, {
      [name]: async () => {
        const startMs = performance.now();
        await ask(sql);
        return { value: (performance.now() - startMs) / 1000 };
      },
    });
    measures.push(middle(lanes, name, { name: `${database}, ${name}`, unit: 's', limit: SECONDS_MAX }));
  }
  return measures;
}

async function inSqlite<Result>(file: string, use: (ask: Ask) => Promise<Result>): Promise<Result> {
  const db = new Sqlite(file, { readonly: true });
  try {
    return await use(async (sql) => db.prepare(sql).all());
  } finally {
    db.close();
  }
}

async function inPostgres<Result>(location: string, use: (ask: Ask) => Promise<Result>): Promise<Result> {
  const url = new URL(location);
  const schema = url.searchParams.get('schema') ?? '';
  url.searchParams.delete('schema');
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(`SET search_path = ${pg.escapeIdentifier(schema)}`);
    return await use((sql) => client.query(sql));
  } finally {
    await client.end();
  }
}
