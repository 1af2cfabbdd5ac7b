// Does the minimum to store the pages in PostgreSQL. For each day it copies the users into a temporary table, inserts them
// with one INSERT that returns the written users, and stores their languages in the same way.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { daysOfPages } from './pages-on-disk.mjs';
import { userValues } from './user-values.mjs';

const [folder, url, schema] = process.argv.slice(2);
const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query(`SET search_path TO ${pg.escapeIdentifier(schema)}`);
for (const table of ['user_daily', 'user_daily_languages']) {
  await client.query(`CREATE TEMPORARY TABLE staged_${table} (LIKE ${table}) ON COMMIT DELETE ROWS`);
}
const { rows } = await client.query(
  `SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) AS names FROM information_schema.columns
   WHERE table_schema = $1 AND table_name = 'user_daily' AND column_name NOT IN ('org_id', 'date', 'user_id')`,
  [schema],
);
const names = rows[0].names.split(', ');
const assignments = names.map((name) => `${name} = excluded.${name}`).join(', ');
const differs = names.map((name) => `stored.${name} IS DISTINCT FROM excluded.${name}`).join(' OR ');
const INSERT_USERS = `INSERT INTO user_daily AS stored SELECT * FROM staged_user_daily ON CONFLICT (org_id, date, user_id)
  DO UPDATE SET ${assignments} WHERE ${differs} RETURNING user_id`;

function* lines(values) {
  for (const row of values) yield `${row.map((value) => value ?? '\\N').join('\t')}\n`;
}

async function copy(table, values) {
  const text = [...lines(values)].join('');
  await pipeline(Readable.from([text]), client.query(copyFrom(`COPY staged_${table} FROM STDIN`)));
}

function* languagesOf(users, orgId, written) {
  for (const { date, user_id: userId, languages } of users) {
    if (!written.has(userId)) continue;
    for (const language of languages ?? []) yield [orgId, date, userId, language, null];
  }
}

for (const pages of daysOfPages(folder)) {
  const orgId = pages[0].meta.org_id;
  const users = pages.flatMap(({ data }) => data);
  await client.query('BEGIN');
  await copy(
    'user_daily',
    users.map((user) => userValues(orgId, user)),
  );
  const written = await client.query({ text: INSERT_USERS, rowMode: 'array' });
  await copy('user_daily_languages', languagesOf(users, orgId, new Set(written.rows.map(([id]) => id))));
  await client.query('INSERT INTO user_daily_languages SELECT * FROM staged_user_daily_languages');
  await client.query('COMMIT');
}
await client.end();
