// Does the minimum to store the rows in SQLite: a prepared INSERT for each row, in one transaction for each table.
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import Sqlite from 'better-sqlite3';

const [folder, path] = process.argv.slice(2);
const db = new Sqlite(path);
db.pragma('journal_mode = WAL');
db.exec(readFileSync(join(folder, 'tables.sql'), 'utf8'));
for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  db.exec('BEGIN');
  let insert;
  for await (const line of createInterface({ input: createReadStream(join(folder, file)) })) {
    const row = JSON.parse(line);
    insert ??= db.prepare(`INSERT INTO ${basename(file, '.json')} VALUES (${row.map(() => '?').join(', ')})`);
    insert.run(row);
  }
  db.exec('COMMIT');
}
db.close();
