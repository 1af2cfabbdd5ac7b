import { expect, test } from 'vitest';
import { daysFrom, parseDay, weekdayOf } from '../../../src/core/day.ts';
import { storePeople, storeUsers } from '../../support/metrics/small-world.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const DAYS = daysFrom(parseDay('2026-02-02'), parseDay('2026-05-10'));
const SPIKE = '2026-05-06';

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
});
