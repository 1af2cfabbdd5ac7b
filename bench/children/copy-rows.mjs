// Does the minimum to store the rows in PostgreSQL: one COPY for each table, in one transaction each.
import { createReadStream, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

const [folder, url, schema] = process.argv.slice(2);
const client = new pg.Client({ connectionString: url });
await client.connect();
for (const file of readdirSync(folder).filter((name) => name.endsWith('.csv'))) {
  const table = `${pg.escapeIdentifier(schema)}.${basename(file, '.csv')}`;
  const copy = client.query(copyFrom(`COPY ${table} FROM STDIN (FORMAT csv, NULL 'null')`));
  await pipeline(createReadStream(join(folder, file)), copy);
}
await client.end();
