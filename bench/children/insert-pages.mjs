// Does the minimum to store the pages in SQLite: parses them, and inserts each day by prepared statements in a transaction.
import { readFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { daysOfPages } from './pages-on-disk.mjs';
import { userValues } from './user-values.mjs';

const [folder, path, tables] = process.argv.slice(2);
const db = new Sqlite(path);
db.pragma('journal_mode = WAL');
db.exec(readFileSync(tables, 'utf8'));
const insertUser = db.prepare(`INSERT INTO user_daily VALUES (${Array(23).fill('?').join(', ')})`);
const insertLanguage = db.prepare('INSERT INTO user_daily_languages VALUES (?, ?, ?, ?, NULL)');

for (const pages of daysOfPages(folder)) {
  db.exec('BEGIN');
  for (const { data, meta } of pages) {
    for (const user of data) {
      insertUser.run(userValues(meta.org_id, user));
      for (const language of user.languages ?? [])
        insertLanguage.run(meta.org_id, user.date, user.user_id, language);
    }
  }
  db.exec('COMMIT');
}
db.close();
