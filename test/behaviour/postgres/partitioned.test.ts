// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { HISTORY_TABLE, schemaSql } from '../../../schema/reference/sql.ts';
import type { Values } from '../../../schema/row.ts';
import { allTables, tables } from '../../../schema/tables.ts';
import { allViews } from '../../../schema/views.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { migrationsFor } from '../../../src/warehouse/schema-version.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { fullWarehouse } from '../../support/copy/full-warehouse.ts';
import { contentOf, copy } from '../../support/copy/run-copy.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const script = schemaSql('postgres', 'partitioned');
const months = script.slice(script.indexOf('-- Months'));
const large = ['tokens_daily_by_user', 'tokens_daily_by_user_model', 'user_daily', 'user_daily_languages'];
const newest = migrationsFor('postgres').at(-1);

async function made(sql = script): Promise<Place> {
  const place = postgres.place();
  await place.makeEmpty();
  await place.execute(sql);
  return place;
}

/** Columns with their types and defaults, keys, other indexes, views and comments: what the catalog says, without partitions. */
const CATALOG = `
WITH own AS (SELECT * FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND NOT relispartition)
SELECT relname AS name, CASE relkind WHEN 'v' THEN 'view' ELSE 'table' END AS kind, obj_description(oid, 'pg_class') AS comment,
  CASE relkind WHEN 'v' THEN pg_get_viewdef(oid) END AS view,
  (SELECT json_agg(json_build_array(attname, format_type(atttypid, atttypmod), collname, attnotnull, pg_get_expr(adbin, adrelid),
      col_description(own.oid, attnum)) ORDER BY attnum)
    FROM pg_attribute a LEFT JOIN pg_collation l ON l.oid = attcollation LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
    WHERE attrelid = own.oid AND attnum > 0 AND NOT attisdropped)::text AS columns,
  (SELECT json_agg(json_build_array(conname, pg_get_constraintdef(c.oid)) ORDER BY conname)
    FROM pg_constraint c WHERE conrelid = own.oid AND contype <> 'n')::text AS constraints,
  (SELECT json_agg(replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') ORDER BY indexrelid::regclass::text)
    FROM pg_index WHERE indrelid = own.oid)::text AS indexes
FROM own WHERE relkind IN ('r', 'p', 'v') ORDER BY relname`;

/** The catalog of a place; its schema has a name of its own. */
async function catalogOf(place: Place) {
  const schema = new URL(place.location).searchParams.get('schema') ?? '';
  const text = JSON.stringify(await place.query(CATALOG));
  return JSON.parse(text.replaceAll(schema, 'schema'));
}

/** Which partition holds how many rows. */
async function rowsByPart(place: Place, table: string) {
  const rows = await place.query(
    `SELECT tableoid::regclass::text AS part, COUNT(*) AS n FROM ${table} GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ part, n }) => [String(part).replace(/^.*\./, ''), n]));
}

const TOKENS: Values = [1, 1, 1, 1, 1, null];
const user = (id: string, tokens = TOKENS): Values => [id, null, ...tokens];
const dayOf = (day: string, ...rows: Values[]) => commitOf({ day, rows: { tokens_daily_by_user: rows } });

onDatabase(postgres, () => {
  describe('a schema that is partitioned by month', () => {
    it('has the tables, columns, defaults, keys, views and comments of the plain one', {
      tags: 'ci/rare',
    }, async () => {
      const [plain, partitioned] = [await made(schemaSql('postgres')), await made()];
      const catalog = await catalogOf(partitioned);
      expect(catalog).toEqual(await catalogOf(plain));
      expect(catalog.map(({ name }: { name: string }) => name)).toEqual(
        [HISTORY_TABLE, ...allTables.map(({ name }) => name), ...allViews.map(({ name }) => name)].toSorted(),
      );
      const parents = await partitioned.query(
        `SELECT relname AS name FROM pg_class WHERE relkind = 'p' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())`,
      );
      expect(parents.map(({ name }) => String(name)).toSorted()).toEqual(large);
      expect(catalog.filter(({ name }: { name: string }) => large.includes(name))).toEqual(
        large.map((name) =>
          expect.objectContaining({
            name,
            constraints: expect.stringMatching(/PRIMARY KEY \(org_id, date, user_id\b/),
          }),
        ),
      );
    });

    it('is filled by a run like a plain one, is verified, and a second run writes nothing', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const plain = await createRig({ users: 12, reports: 3 }, { database: postgres });
      const rig = rigOver(plain.emulator, await made());
      expect((await plain.run()).report).toMatchObject({ exitCode: 0 });
      expect((await rig.run()).report).toMatchObject({ exitCode: 0 });
      expect(await rig.digest()).toBe(await plain.digest());
      for (const table of large) {
        const rows = await rowsByPart(rig.place, table);
        expect(Object.keys(rows), table).toEqual([`${table}_2026_01`, `${table}_2026_02`]);
      }
      const known = await rig.value("SELECT reltuples FROM pg_class WHERE oid = 'user_daily'::regclass");
      expect(Number(known)).toBe(Number(await rig.value('SELECT COUNT(*) FROM user_daily')));
      expect((await daywalkInProcess(['verify'], { env: envOf(rig) })).code).toBe(0);
      expect((await rig.run()).report).toMatchObject({ exitCode: 0, rowsWritten: 0 });
      expect(await rig.digest()).toBe(await plain.digest());
    });

    it('takes a copy of a warehouse that has rows in every table, and gives it back', {
      tags: 'ci/rare',
    }, async () => {
      needsSessions(postgres);
      const source = await fullWarehouse();
      const { location } = await made();
      const { report } = await copy(source.path, location);
      expect(report).toMatchObject({ exitCode: 0 });
      expect(report.digest.to).toBe(report.digest.from);
      expect(report.digest.to).toBe(await source.digest());
      expect(await contentOf(location)).toEqual(await contentOf(source.path));
      expect((await copy(source.path, location)).report).toMatchObject({ exitCode: 0, rowsWritten: 0 });
      const verified = await daywalkInProcess(['verify', '--warehouse', location]);
      expect(verified.code).toBe((await daywalkInProcess(['verify', '--warehouse', source.path])).code);
      const plain = postgres.place();
      const back = await copy(location, plain.location);
      expect(back.report).toMatchObject({ exitCode: 0, digest: report.digest });
    });

    it('replaces a row of the same key, and leaves an equal one', { tags: 'ci/rare' }, async () => {
      const warehouse = await open(await made());
      const again = (...rows: Values[]) => commitDay(warehouse, dayOf('2026-02-01', ...rows));
      expect(await again(user('a'), user('b'))).toMatchObject({ rowsWritten: 2 });
      expect(await again(user('a'), user('b', [7, 1, 1, 1, 1, null]))).toMatchObject({ rowsWritten: 1 });
      const select = 'SELECT user_id, billable_tokens AS tokens FROM tokens_daily_by_user ORDER BY 1';
      expect(await warehouse.place.query(select)).toEqual([
        { user_id: 'a', tokens: 1 },
        { user_id: 'b', tokens: 7 },
      ]);
      const many = Array.from({ length: 1000 }, (_, n) => user(`u ${n}`));
      expect(await again(...many)).toMatchObject({ rowsWritten: 1002 });
      expect(await again(...many)).toMatchObject({ rowsWritten: 0 });
    });

    it('keeps a month without a partition in the default one, until its partition is made', {
      tags: 'ci/rare',
    }, async () => {
      const place = await made();
      const warehouse = await open(place);
      const put = (day: string) => commitDay(warehouse, dayOf(day, user('a'), user('b')));
      await place.execute('DROP TABLE tokens_daily_by_user_2026_03');
      for (const day of ['2026-02-28', '2026-03-01', '2026-03-31', '2026-04-01', '2099-12-31'])
        await put(day);
      const rows = () => rowsByPart(place, 'tokens_daily_by_user');
      const others = { tokens_daily_by_user_2026_02: 2, tokens_daily_by_user_2026_04: 2 };
      expect(await rows()).toEqual({ ...others, tokens_daily_by_user_default: 6 });
      const content = await contentOf(place.location);
      for (let times = 0; times < 2; times += 1) {
        await place.execute(months);
        expect(await rows()).toEqual({
          ...others,
          tokens_daily_by_user_2026_03: 4,
          tokens_daily_by_user_default: 2,
        });
      }
      expect(await contentOf(place.location)).toEqual(content);
      expect(await catalogOf(place)).toEqual(await catalogOf(await made()));
    });

    it('has a partition for every month until a year from now', { tags: 'ci/rare' }, async () => {
      const place = await made();
      for (const table of large) {
        const parts = await place.query(
          `SELECT relname AS part, pg_get_expr(relpartbound, c.oid) AS bound FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
            WHERE inhparent = ?::regclass ORDER BY 1`,
          table,
        );
        const now = new Date();
        const count = (now.getUTCFullYear() + 1 - 2026) * 12 + now.getUTCMonth() + 1;
        const expected = Array.from({ length: count }, (_, index) => {
          const [from = '', to = ''] = [index, index + 1].map((month) =>
            new Date(Date.UTC(2026, month)).toISOString().slice(0, 10),
          );
          return {
            part: `${table}_${from.slice(0, 7).replace('-', '_')}`,
            bound: `FOR VALUES FROM ('${from}') TO ('${to}')`,
          };
        });
        expect(parts).toEqual([...expected, { part: `${table}_default`, bound: 'DEFAULT' }]);
      }
    });

    it('is migrated from an earlier version like a plain one, and refused where it is newer', {
      tags: 'ci/rare',
    }, async () => {
      const last = `-- Migration ${migrationsFor('postgres').length}\n`;
      const older =
        script.slice(0, script.indexOf(last)) + script.slice(script.indexOf('-- What was migrated'));
      const lines = older.split('\n').filter((line) => !line.includes(newest?.hash ?? ''));
      const place = await made(lines.filter((line) => !line.startsWith('COMMENT')).join('\n'));
      await (await open(place, { create: false })).close();
      expect(await catalogOf(place)).toEqual(await catalogOf(await made(schemaSql('postgres'))));
      await place.execute(
        `UPDATE "${HISTORY_TABLE}" SET created_at = created_at + 4102444800000 WHERE id = 1`,
      );
      expect(await thrownBy(open(place))).toMatchObject({ name: 'UsageError', reason: 'warehouse-is-newer' });
    });

    it('keeps no value of a deleted row in the statistics, not even of a partition that is empty now', {
      tags: 'ci/rare',
    }, async () => {
      const warehouse = await open(await made());
      const { place } = warehouse;
      const canary = user('canary');
      await commitDay(warehouse, dayOf('2026-02-01', canary, user('canary 2'), user('canary 3')));
      await commitDay(warehouse, dayOf('2026-03-01', user('other'), user('other 2')));
      await place.execute('ANALYZE');
      const held = async () => {
        const found = await place.query<{ tablename: string }>(
          `SELECT DISTINCT tablename FROM pg_stats s WHERE schemaname = current_schema() AND row_to_json(s)::text LIKE '%canary%' ORDER BY 1`,
        );
        return found.map(({ tablename }) => tablename);
      };
      expect(await held()).toEqual(['tokens_daily_by_user', 'tokens_daily_by_user_2026_02']);
      const rows = ['canary', 'canary 2', 'canary 3'].map((id) => ['org_1', '2026-02-01', ...user(id)]);
      await changeRows(warehouse, { put: [], remove: [{ table: tables.tokensDailyByUser, rows }] });
      await warehouse.forgetDeleted();
      expect(await held()).toEqual([]);
      expect(await rowsByPart(place, 'tokens_daily_by_user')).toEqual({ tokens_daily_by_user_2026_03: 2 });
    });
  });
});

describe('daywalk schema --format sql --partitioned', () => {
  it('prints the script', async () => {
    const { stdout, code } = await daywalk(['schema', '--format', 'sql', '--partitioned']);
    expect(stdout.trimEnd()).toBe(script.trimEnd());
    expect(code).toBe(0);
  });

  it.each([
    ['--format', 'sql', '--database', 'sqlite', '--partitioned'],
    ['--format', 'sql', '--distributed', 'citus', '--partitioned'],
    ['--partitioned'],
  ])('is refused with a hint and exit code 2 for %s %s %s %s %s', async (...args) => {
    const { stdout, stderr, code } = await daywalkInProcess([
      'schema',
      ...args.filter((arg) => arg !== undefined),
    ]);
    expect({ stdout, code }).toEqual({ stdout: '', code: 2 });
    expect(stderr).toMatch(/hint: \S/);
  });
});
