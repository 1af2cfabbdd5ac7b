// @module-tag database-specific
// @module-tag campaign/verify

import { readFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { CREATE_HISTORY } from '../../../schema/reference/sql.ts';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { migrationsFor } from '../../../src/warehouse/schema-version.ts';
import { APPLICATION_ID } from '../../../src/warehouse/sqlite/connection.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { startScript } from '../../support/process/script.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { onDatabase, onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const isLongCampaign = process.env['DAYWALK_CHAOS'] === '1';
const HISTORY = '"__drizzle_migrations"';
const IN_FUTURE = Date.UTC(2100);

/** A warehouse file that is one migration behind. */
function olderWarehouse(): string {
  const path = tempFile();
  const [first] = migrationsFor('sqlite');
  if (first === undefined) throw new Error('there is no migration');
  const db = new Sqlite(path);
  for (const statement of first.sql) db.exec(statement);
  db.exec(`CREATE TABLE ${HISTORY} (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at NUMERIC)`);
  db.prepare(`INSERT INTO ${HISTORY} (hash, created_at) VALUES (?, ?)`).run(first.hash, first.folderMillis);
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.exec("INSERT INTO tokens_daily (org_id, date, billable_tokens) VALUES ('org_1', '2026-02-01', 7)");
  db.close();
  return path;
}

/** What a file holds, as text: its tables, its history of migrations and a row. */
function stateOf(path: string): string {
  const db = new Sqlite(path);
  try {
    const tables = db.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY name').all();
    const rows = [`SELECT * FROM ${HISTORY}`, 'SELECT * FROM tokens_daily'].map((sql) =>
      db.prepare(sql).all(),
    );
    return JSON.stringify([tables, rows]);
  } finally {
    db.close();
  }
}

const openFile = (path: string) =>
  openWarehouse(path, { clock: new FakeClock({ auto: true }), create: false });

describe('S7: a migration of a file', () => {
  test('brings an older one to this version, with its content', async () => {
    const path = olderWarehouse();
    const warehouse = await openFile(path);
    expect(await warehouse.damages()).toEqual([]);
    await warehouse.close();
    const db = new Sqlite(path);
    expect(db.prepare(`SELECT COUNT(*) FROM ${HISTORY}`).pluck().get()).toBe(migrationsFor('sqlite').length);
    expect(db.prepare('SELECT billable_tokens FROM tokens_daily').pluck().all()).toEqual([7]);
    db.close();
  });

  test('turns every metric into a REAL with the same value', async () => {
    const path = olderWarehouse();
    const values = [0, -7, 2.5, 2 ** 31, 2 ** 47, 2 ** 53 - 1, 2 ** 60, 1e300, null];
    const select = "SELECT billable_tokens FROM tokens_daily WHERE org_id = 'org_2' ORDER BY date";
    const older = new Sqlite(path);
    const insert = older.prepare(
      "INSERT INTO tokens_daily (org_id, date, billable_tokens) VALUES ('org_2', ?, ?)",
    );
    for (const [index, value] of values.entries()) insert.run(`2026-02-0${index + 1}`, value);
    expect(older.prepare(select).pluck().all()).toEqual(values);
    older.close();
    const warehouse = await openFile(path);
    expect(await warehouse.damages()).toEqual([]);
    await warehouse.close();
    const db = new Sqlite(path);
    expect(db.prepare(select).pluck().all()).toEqual(values);
    expect(
      db.prepare('SELECT DISTINCT typeof(billable_tokens) FROM tokens_daily ORDER BY 1').pluck().all(),
    ).toEqual(['null', 'real']);
    expect(
      db.prepare("SELECT billable_tokens / 2 FROM tokens_daily WHERE org_id = 'org_1'").pluck().get(),
    ).toBe(3.5);
    db.close();
  });

  test('that fails midway keeps the older version, and succeeds later', async () => {
    const path = olderWarehouse();
    const creates = /CREATE TABLE `?(\w+)`?/i;
    const last = migrationsFor('sqlite')
      .flatMap(({ sql }) => sql)
      .findLast((sql) => creates.test(sql));
    const name = creates.exec(last ?? '')?.[1] ?? '';
    const db = new Sqlite(path);
    db.exec(`CREATE TABLE "${name}" (in_the_way)`);
    db.close();
    const before = stateOf(path);
    expect(await thrownBy(openFile(path))).toMatchObject({
      exitCode: 6,
      message: expect.stringContaining(name),
    });
    expect(stateOf(path)).toBe(before);
    const repair = new Sqlite(path);
    repair.exec(`DROP TABLE "${name}"`);
    repair.close();
    await (await openFile(path)).close();
  });

  test('that is killed midway keeps the older version, and succeeds later', { tags: 'ci/rare' }, async () => {
    const statements = migrationsFor('sqlite')
      .slice(1)
      .flatMap(({ sql }) => sql).length;
    expect(statements).toBeGreaterThan(0);
    const every = Array.from({ length: statements }, (_, index) => index + 1);
    for (const at of isLongCampaign ? every : [Math.ceil(statements / 2)]) {
      const path = olderWarehouse();
      const before = stateOf(path);
      const script = startScript(
        `import Sqlite from 'better-sqlite3';
         import { openWarehouse } from './src/warehouse/open.ts';
         import { systemClock } from './src/core/clock.ts';
         const exec = Sqlite.prototype.exec;
         let count = 0;
         Sqlite.prototype.exec = function (sql) {
           const isOwn = this.inTransaction && !/__drizzle/.test(sql);
           if (isOwn && (count += 1) === ${at}) process.kill(process.pid, 'SIGKILL');
           return exec.call(this, sql);
         };
         await openWarehouse(${JSON.stringify(path)}, { clock: systemClock(), create: false });`,
      );
      expect(await script.ended, `at statement ${at}`).toMatchObject({ signal: 'SIGKILL' });
      expect(stateOf(path), `at statement ${at}`).toBe(before);
      await (await openFile(path)).close();
      expect(stateOf(path)).not.toBe(before);
    }
  });
});

onEachDatabase((database) => {
  test('S7: a warehouse of a newer version is refused with exit code 2, and does not change', async () => {
    const first = await open(database);
    const { place } = first;
    await first.close();
    await place.execute(`INSERT INTO ${HISTORY} (id, hash, created_at) VALUES (99, 'x', ${IN_FUTURE})`);
    const content = async () =>
      JSON.stringify([await place.relations(), await place.query(`SELECT * FROM ${HISTORY} ORDER BY id`)]);
    const before = await content();
    const bytes = () => (database.name === 'SQLite' ? readFileSync(place.location).toString('base64') : '');
    const file = bytes();
    expect(await thrownBy(open(place))).toMatchObject({
      name: 'UsageError',
      exitCode: 2,
      message: expect.stringMatching(/ has version \d+, this program \d+$/),
      hint: expect.stringContaining('update daywalk'),
    });
    expect(await content()).toBe(before);
    expect(bytes()).toBe(file);
  });

  test('S7: a first migration that fails midway leaves nothing behind, and succeeds later', {
    tags: 'ci/variant',
  }, async () => {
    const place = database.place();
    await place.makeEmpty();
    await place.execute('CREATE TABLE coverage (in_the_way integer)');
    const before = await place.relations();
    const error = await thrownBy(open(place));
    // On SQLite a foreign table is seen before anything is tried.
    expect([2, 6]).toContain(Reflect.get(Object(error), 'exitCode'));
    expect(await place.relations()).toEqual(before);
    await place.execute('DROP TABLE coverage');
    expect(await readOrganizationIds(await open(place))).toEqual([]);
  });
});

onDatabase(postgres, () => {
  test('S7: numbers that stood for flags become booleans', async () => {
    const place = postgres.place();
    await place.makeEmpty();
    const isAfter = (sql: string) => /"is_weekend" SET DATA TYPE boolean/.test(sql);
    const older = migrationsFor('postgres').slice(
      0,
      migrationsFor('postgres').findIndex(({ sql }) => sql.some(isAfter)),
    );
    for (const { sql } of older) await place.execute(sql.join('\n;\n'));
    await place.execute(CREATE_HISTORY);
    for (const [id, { hash, folderMillis }] of older.entries())
      await place.execute(`INSERT INTO ${HISTORY} VALUES (${id + 1}, '${hash}', ${folderMillis})`);
    await place.execute(
      `INSERT INTO dates VALUES ('2026-01-16', 2026, 3, '2026-01-12', '2026-01', '2026-Q1', 5, 0),
        ('2026-01-17', 2026, 3, '2026-01-12', '2026-01', '2026-Q1', 6, 1)`,
    );
    await open(place);
    expect(await place.query('SELECT date FROM dates WHERE is_weekend')).toEqual([{ date: '2026-01-17' }]);
    expect(await place.query('SELECT date FROM dates WHERE NOT is_weekend')).toEqual([
      { date: '2026-01-16' },
    ]);
  });
});
