import { expect, test } from 'vitest';
import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const USERS = 500;
const today = parseDay('2026-01-20');
const large = (database: typeof sqlite): Promise<Rig> =>
  createRig({ users: USERS, steady: true, reports: 0, today }, { database });

onDatabase(sqlite, () => {
  test('a run that wrote much updates the table statistics, so that the key serves queries for one person', {
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

  test('a run that wrote little does not update them', async () => {
    const rig = await large(sqlite);
    await rig.run({ from: FIRST_DAY, until: FIRST_DAY });
    expect(await rig.column("SELECT name FROM sqlite_master WHERE name = 'sqlite_stat1'")).toEqual([]);
  });
});

onDatabase(postgres, () => {
  test('a run that wrote much updates the table statistics', async () => {
    const rig = await large(postgres);
    await rig.run();
    const sql = "SELECT reltuples FROM pg_catalog.pg_class WHERE oid = to_regclass('user_daily')";
    expect(Number(await rig.value(sql))).toBe(USERS * 6);
  });
});
