import { expect, test } from 'vitest';
import { readUnusual } from '../../../src/comparison/read-unusual.ts';
import { daysFrom, parseDay, weekdayOf } from '../../../src/core/day.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { storePeople, storeUsers } from '../../support/metrics/small-world.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const DAYS = daysFrom(parseDay('2026-02-02'), parseDay('2026-05-10'));
const SPIKE = '2026-05-06';
const WEEK = { from: parseDay('2026-05-04'), until: parseDay('2026-05-10') };

onEachDatabase((database) => {
  test('daywalk metric --unusual names the day, the team and the person, and what was looked at', async () => {
    const warehouse = await open(database);
    for (const day of DAYS) {
      const level = weekdayOf(day) > 5 ? 100 : 1_000;
      const users = ['ada', 'bob', 'erased-0123456789abcdef0123456789abcdef'].map((user_id, at) => ({
        user_id,
        billable_tokens: (level + ((at * 7 + day.charCodeAt(9)) % 5)) * (day === SPIKE ? 12 : 1),
      }));
      await storeUsers(warehouse, day, users);
    }
    const period = { valid_from: '2026-01-14', valid_to: null };
    await storePeople(warehouse, [{ ...period, person: 'ada', team: 'core' }]);
    await warehouse.place.execute(
      "UPDATE export_units SET settled_at = '2026-05-13T03:00:00.000Z', confirmed = 'data'",
    );
    const call = (...args: string[]) =>
      daywalkInProcess(
        ['metric', ...args, '--unusual', '--warehouse', warehouse.location, '--log', 'silent'],
        {
          env: { DAYWALK_NOW: '2026-05-14T03:00:00Z' },
        },
      );
    const { code, stdout, stderr } = await call('billable_tokens', '--json');
    expect(code, stderr).toBe(0);
    const { rows, looked_at, from, until } = JSON.parse(stdout);
    expect([from, until]).toEqual(['2026-05-04', '2026-05-10']);
    expect(looked_at).toMatchObject({ date: 7, user: 14 });
    expect(new Set(rows.map(({ date }: { date: string }) => date))).toEqual(new Set([SPIKE]));
    const names = rows
      .map(({ dimension, name }: Record<string, string>) => `${dimension} ${name}`)
      .toSorted();
    expect(names).toEqual(['date null', 'team core', 'team null', 'user ada', 'user bob']);
    expect(rows[0]).toMatchObject({ dimension: 'date', settled: true, low: expect.any(Number) });
    const text = await call('billable_tokens', '--by', 'date');
    expect(text.stdout).toMatch(/2026-05-06 +day +all +36,0\d\d/);
    expect(text.stdout).toContain('looked at 7 days');
    const quiet = await call('billable_tokens', '--from', '2026-04-27');
    expect(quiet.stdout).toContain('nothing is unusual');
    // Thirteen weeks before, the service had no data yet; nine are stored.
    const early = await call('billable_tokens', '--from', '2026-04-06', '--json');
    expect(early.code, early.stderr).toBe(0);
    expect(JSON.parse(early.stdout)).toMatchObject({ rows: [], looked_at: { date: 7, user: 14 } });
    for (const args of [
      ['active_users'],
      ['tokens_per_commit'],
      ['billable_tokens', '--until', '2026-05-10', '--from', '2026-01-20'],
      ['billable_tokens', '--by', 'month'],
      ['billable_tokens', '--sql'],
    ]) {
      expect(await call(...args), args.join(' ')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('hint'),
      });
    }
  });

  test('a day that an event closes for all is not unusual, and not a usual day of later weeks', {
    tags: 'ci/rare',
  }, async () => {
    const warehouse = await open(database);
    const closed = ['2026-02-16', '2026-02-23', '2026-03-02', '2026-05-04'];
    for (const day of DAYS) {
      const level = closed.includes(day) ? 10 : weekdayOf(day) > 5 ? 100 : 1_000 + (day.charCodeAt(9) % 5);
      await storeUsers(warehouse, day, [
        { user_id: 'ada', billable_tokens: level },
        { user_id: 'bob', billable_tokens: level },
      ]);
    }
    await refreshRollups(warehouse, { orgId: 'org_1', now: new Date('2026-05-14T03:00:00Z') });
    const find = async () => {
      const question = { metric: 'billable_tokens', orgId: 'org_1', kinds: ['date'] } as const;
      const { rows, looked_at } = await readUnusual(warehouse, { ...question, ...WEEK });
      return { days: rows.map(({ date }) => date), looked: looked_at.date };
    };
    const close = (day: string, team: string) =>
      warehouse.place.execute("INSERT INTO events VALUES ('org_1', ?, ?, 'Holiday', ?)", day, team, 1);
    // Nobody has said that the three Mondays before were closed, so such a Monday is usual.
    expect(await find()).toEqual({ days: [], looked: 7 });
    for (const day of closed.slice(0, -1)) await close(day, '');
    expect(await find()).toEqual({ days: ['2026-05-04'], looked: 7 });
    await close('2026-05-04', 'core');
    expect(await find()).toEqual({ days: ['2026-05-04'], looked: 7 });
    await close('2026-05-04', '');
    expect(await find()).toEqual({ days: [], looked: 6 });
  });
});
