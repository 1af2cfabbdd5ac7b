import { expect, test } from 'vitest';
import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const USERS = 500;
const today = parseDay('2026-01-27');
const large = (database: typeof sqlite): Promise<Rig> =>
  createRig({ users: USERS, steady: true, reports: 0, today }, { database });

onDatabase(sqlite, () => {
  test('a first run updates the table statistics, so that the key serves queries for one person', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await large(sqlite);
    await rig.run();
    const plan = await rig.sql<{ detail: string }>(
      'EXPLAIN QUERY PLAN SELECT * FROM user_daily WHERE user_id = ?',
      '',
    );
    expect(plan.map(({ detail }) => detail)).toEqual([
      'SEARCH user_daily USING PRIMARY KEY (ANY(org_id) AND ANY(date) AND user_id=?)',
    ]);
  });
});

onDatabase(postgres, () => {
  const rowsKnown = (rig: Rig, table: string) =>
    rig.value(`SELECT reltuples FROM pg_catalog.pg_class WHERE oid = to_regclass('${table}')`).then(Number);

  test('a first run updates the statistics of every table that has rows', async () => {
    const rig = await large(postgres);
    await rig.run({ from: FIRST_DAY, until: FIRST_DAY });
    for (const table of ['user_daily', 'user_weekly', 'export_units', 'dates'])
      expect(await rowsKnown(rig, table), table).toBe(
        Number(await rig.value(`SELECT COUNT(*) FROM ${table}`)),
      );
  });

  test('a later run updates those of a table of which it loaded more than a tenth, and no others', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await large(postgres);
    await rig.run({ until: parseDay('2026-01-14') });
    expect(await rowsKnown(rig, 'user_daily')).toBe(USERS);
    await rig.run({ until: parseDay('2026-01-25') });
    expect(await rowsKnown(rig, 'user_daily')).toBe(12 * USERS);
    await rig.run();
    expect(await rig.value('SELECT COUNT(*) FROM user_daily').then(Number)).toBe(13 * USERS);
    expect(await rowsKnown(rig, 'user_daily')).toBe(12 * USERS);
  });
});
