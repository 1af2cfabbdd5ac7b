import { expect, test } from 'vitest';
import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const USERS = 500;
const today = parseDay('2026-01-20');
const JOIN = `SELECT u.user_email, SUM(d.sessions) FROM user_daily d
JOIN users u ON u.org_id = d.org_id AND u.user_id = d.user_id GROUP BY u.user_id, u.user_email`;

const large = (database: typeof sqlite): Promise<Rig> =>
  createRig({ users: USERS, steady: true, reports: 0, today }, { database });

onDatabase(sqlite, () => {
  test('a run that wrote much updates the table statistics, so that a join with users uses the index', async () => {
    const rig = await large(sqlite);
    await rig.run();
    expect(await rig.column("SELECT DISTINCT tbl FROM sqlite_stat1 WHERE tbl = 'user_daily'")).toHaveLength(
      1,
    );
    const plan = await rig.sql<{ detail: string }>(`EXPLAIN QUERY PLAN ${JOIN}`);
    const details = plan.map(({ detail }) => detail).join('\n');
    expect(details).toMatch(/SEARCH d USING INDEX user_daily_by_user \(org_id=\? AND user_id=\?\)/);
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
