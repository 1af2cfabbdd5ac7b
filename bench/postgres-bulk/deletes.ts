import type pg from 'pg';
import type { TableRows } from '../../schema/row.ts';
import { userDaily } from '../../schema/tables/daily.ts';
import { largeUnits } from './content.ts';
import { eagerCopy, textChunks } from './copy.ts';
import { median, type Section, type Setting, timed } from './measure.ts';
import { arrays } from './parameters.ts';
import type { Unit } from './tables.ts';

const SCOPE = 't.org_id = $1 AND t.date = $2::date';
const KEY_AT = 2;

/** A way to delete the rows of a day that are not in a given list. Returns the number of deleted rows. */
type Delete = (client: pg.Client, day: TableRows) => Promise<number>;

function scopeOf({ rows }: TableRows): unknown[] {
  return [rows[0]?.[0], rows[0]?.[1]];
}

function keyArray(day: TableRows): string {
  return arrays(day)[KEY_AT] ?? '{}';
}

/** Deletes with one prepared statement of parameters: scope, keys, number of rows. */
function statement(name: string, condition: string, parameters: (day: TableRows) => unknown[]): Delete {
  const text = `DELETE FROM user_daily t WHERE ${SCOPE} AND ${condition}`;
  return async (client, day) =>
    (await client.query({ name, text, values: [...scopeOf(day), ...parameters(day)] })).rowCount ?? 0;
}

const readAndDiff: Delete = async (client, day) => {
  const text = `SELECT user_id FROM user_daily t WHERE ${SCOPE}`;
  const stored = await client.query({ name: 'keys', text, values: scopeOf(day), rowMode: 'array' });
  const kept = new Set(day.rows.map((row) => row[KEY_AT]));
  const gone = stored.rows.map(([key]) => key).filter((key) => !kept.has(key));
  if (gone.length === 0) return 0;
  return statement('remove', 'user_id = ANY ($3)', () => [gone])(client, day);
};

const countThenDiff: Delete = async (client, day) => {
  const text = `SELECT count(*)::int AS stored FROM user_daily t WHERE ${SCOPE}`;
  const { rows } = await client.query({ name: 'count', text, values: scopeOf(day) });
  return rows[0]?.stored === day.rows.length ? 0 : readAndDiff(client, day);
};

const NOT_IN = 'user_id NOT IN (SELECT unnest($3::text[]))';
const WAYS: Readonly<Record<string, Delete>> = {
  'read the keys, diff in JS': readAndDiff,
  'count, and only if it differs read and diff': countThenDiff,
  'NOT EXISTS in the temp table': statement(
    'staged',
    'NOT EXISTS (SELECT FROM staged s WHERE (s.org_id, s.date, s.user_id) = (t.org_id, t.date, t.user_id))',
    () => [],
  ),
  'NOT EXISTS in unnest of the keys': statement(
    'given',
    'NOT EXISTS (SELECT FROM unnest($3::text[]) AS s (user_id) WHERE s.user_id = t.user_id)',
    (day) => [keyArray(day)],
  ),
  'NOT IN (SELECT unnest of the keys)': statement('not in', NOT_IN, (day) => [keyArray(day)]),
  'NOT IN (SELECT unnest of the keys), only if the count differs': statement(
    'not in, counted',
    `(SELECT count(*) FROM user_daily t WHERE ${SCOPE}) <> $4::int AND ${NOT_IN}`,
    (day) => [keyArray(day), day.rows.length],
  ),
};

async function fill(client: pg.Client, days: readonly Unit[], analyze: boolean): Promise<void> {
  await client.query('TRUNCATE user_daily');
  // Statistics of an empty table are the worst case of a new warehouse.
  await client.query('ANALYZE user_daily');
  for (const day of days) {
    await eagerCopy(client, 'COPY user_daily FROM STDIN', textChunks(day[0]?.rows ?? []));
  }
  if (analyze) await client.query('ANALYZE user_daily');
}

/** Measures deleting missing rows: one of 20 days of 3,000 users, with staged rows. */
export async function compareDeletes(setting: Setting): Promise<Section> {
  const days = largeUnits(20, 3_000);
  const first = days[0]?.[0];
  if (first === undefined) throw new Error('no rows');
  const columns: string[] = [];
  const lines = Object.keys(WAYS).map((name) => ({ name, ms: [] as number[] }));
  for (const analyze of [false, true]) {
    const client = await setting.connect(false);
    await client.query('CREATE TEMP TABLE staged (LIKE user_daily) ON COMMIT DELETE ROWS');
    await fill(client, days, analyze);
    for (const gone of [0, 10]) {
      columns.push(`${gone} gone${analyze ? ', analyzed' : ''}`);
      const kept = { table: userDaily, rows: first.rows.slice(gone) };
      for (const line of lines)
        line.ms.push(await measure(client, WAYS[line.name], kept, gone, setting.runs));
    }
    await client.end();
  }
  return { title: 'Deleting rows that are gone, of 3,000', columns, rows: null, lines };
}

async function measure(
  client: pg.Client,
  remove: Delete | undefined,
  day: TableRows,
  gone: number,
  runs: number,
): Promise<number> {
  const ms: number[] = [];
  // After six executions the server uses its generic plan, which is then measured.
  for (let turn = 0; turn < runs + 6; turn += 1) {
    await client.query('BEGIN');
    await eagerCopy(client, 'COPY staged FROM STDIN', textChunks(day.rows));
    await client.query('SAVEPOINT staged');
    let deleted: number | undefined;
    ms.push(
      await timed(async () => {
        deleted = await remove?.(client, day);
      }),
    );
    await client.query('ROLLBACK TO staged');
    // Only a commit empties the temporary table.
    await client.query('COMMIT');
    if (deleted !== gone) throw new Error(`deleted ${deleted} rows instead of ${gone}`);
  }
  return median(ms.slice(6));
}
