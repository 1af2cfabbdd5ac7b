import { expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { eraseFrom } from '../../support/erase/erase-rig.ts';
import { storeUsers } from '../../support/metrics/small-world.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const COHORTS = ['metric', 'active_users', '--cohort', 'first-month'];

/** The cohorts by hand: who began in a month, and who of them has a row in it or in a month after. */
const BY_HAND = `SELECT f.cohort, a.month, COUNT(*) AS value,
  (SELECT COUNT(*) FROM (SELECT user_id FROM user_daily GROUP BY user_id HAVING SUBSTR(CAST(MIN(date) AS text), 1, 7) = f.cohort) own) AS size
FROM (SELECT user_id, SUBSTR(CAST(MIN(date) AS text), 1, 7) AS cohort FROM user_daily GROUP BY user_id) f
JOIN (SELECT DISTINCT user_id, SUBSTR(CAST(date AS text), 1, 7) AS month FROM user_daily) a ON a.user_id = f.user_id
GROUP BY f.cohort, a.month ORDER BY f.cohort, a.month`;

onEachDatabase((database) => {
  it('--cohort follows people from the month of their first row, as SQL by hand, also those who are erased', async () => {
    const rig = await createRig({ users: 20, reports: 1, today: '2026-04-10' }, { database });
    await rig.run();
    const call = (...args: string[]) => daywalkInProcess([...COHORTS, ...args], { env: envOf(rig) });
    const ask = async (...args: string[]) => JSON.parse((await call(...args, '--json')).stdout);
    const expected = await rig.sql<{ cohort: string }>(BY_HAND);
    expect(new Set(expected.map(({ cohort }) => cohort)).size).toBeGreaterThan(2);
    const answer = await ask();
    expect(answer.rows).toEqual(expected);
    expect(answer).toMatchObject({ metric: 'active_users', cohort: 'first-month', until: '2026-04-09' });
    expect(answer.days.unsettled.length).toBeGreaterThan(0);
    const fresh = await daywalkInProcess(['metric', 'new_users', '--by', 'month', '--json'], {
      env: envOf(rig),
    });
    const sizes = new Map(answer.rows.map(({ cohort, size }: Record<string, unknown>) => [cohort, size]));
    const began = JSON.parse(fresh.stdout).rows.filter(({ value }: { value: number }) => value > 0);
    expect([...sizes]).toEqual(began.map(({ month, value }: Record<string, unknown>) => [month, value]));
    const [user = ''] = await rig.column<string>('SELECT MIN(user_id) FROM user_daily');
    const { certificate } = await eraseFrom(rig, { user });
    const after = await call('--json');
    expect(JSON.parse(after.stdout).rows).toEqual(expected);
    for (const pseudonym of certificate.pseudonyms) expect(after.stdout).not.toContain(pseudonym);
    const csv = await call('--csv', '--from', '2026-03-01');
    expect(csv.stdout).toMatch(/^cohort,month,value,size\n2026-03,2026-03,/);
    expect((await call('--from', '2026-03-01')).stdout).toMatch(/^COHORT +MONTH +ACTIVE USERS +OF\n2026-03 /);
  });

  it('a month without a stored day has no number, one without anybody has 0, and missing days are named', async () => {
    const warehouse = await open(database);
    await storeUsers(warehouse, '2026-01-20', [{ user_id: 'ann' }, { user_id: 'bob' }]);
    await storeUsers(warehouse, '2026-03-02', [{ user_id: 'bob' }]);
    await storeUsers(warehouse, '2026-04-01', [{ user_id: 'cat' }]);
    const env = { DAYWALK_WAREHOUSE: warehouse.place.location };
    const { stdout } = await daywalkInProcess([...COHORTS, '--json'], { env });
    const { rows, days } = JSON.parse(stdout);
    expect(rows).toEqual([
      { cohort: '2026-01', month: '2026-01', value: 2, size: 2 },
      { cohort: '2026-01', month: '2026-02', value: null, size: 2 },
      { cohort: '2026-01', month: '2026-03', value: 1, size: 2 },
      { cohort: '2026-01', month: '2026-04', value: 0, size: 2 },
      { cohort: '2026-04', month: '2026-04', value: 1, size: 1 },
    ]);
    expect(days.missing).toContain('2026-02-10');
  });
});

it('cohorts are refused where the first row of people is not known, and for what they do not have', {
  tags: 'ci/rare',
}, async () => {
  const rig = await createRig({ users: 8, reports: 1, today: '2026-05-13' });
  for (const now of ['2026-05-11', '2026-05-12']) await rig.run({ now: parseDay(now) });
  const call = (...args: string[]) => daywalkInProcess(args, { env: envOf(rig) });
  for (const [args, hint] of [
    [['metric', 'sessions', '--cohort', 'first-month'], 'ask for active_users'],
    [[...COHORTS, '--by', 'team'], '--cohort and --organization'],
    [['metric', 'active_users', '--cohort', 'first-week'], 'write first-month'],
  ] as const) {
    const { code, stderr } = await call(...args);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(hint);
  }
  await rig.run({ settings: { retainUsers: { count: 100, unit: 'd' } } });
  const expired = await call(...COHORTS);
  expect(expired.code).toBe(2);
  expect(expired.stderr).toContain('rows about people before 2026-02-02 have expired');

  const without = await createRig({ users: 8, reports: 1 }, { database: sqlite });
  await without.run({ settings: { emails: { mode: 'drop', users: 'none' } } });
  const env = { ...envOf(without), DAYWALK_EMAILS: 'drop', DAYWALK_USERS: 'none' };
  const none = await daywalkInProcess(COHORTS, { env });
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('nothing is kept of single users');
});
