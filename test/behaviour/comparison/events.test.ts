import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { storePeople, storeUsers } from '../../support/metrics/small-world.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { type Database, onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** A warehouse with one organization, `ada` in the team core, and what calls `daywalk` on it. */
async function company(database: Database) {
  const warehouse = await open(database);
  await storeUsers(warehouse, '2026-02-02', [{ user_id: 'ada', user_email: 'ada@example.com' }]);
  const day = { stream: 'tokens', day: '2026-02-02' } as const;
  await commitDay(warehouse, commitOf({ ...day, rows: { tokens_daily: [[1, 1, 1, 1, 1, null]] } }));
  const ada = { person: 'ada', valid_from: '2026-01-01', valid_to: null, team: 'core' };
  await storePeople(warehouse, [ada]);
  const cwd = tempDir();
  const daywalk = (env: Record<string, string>, ...args: string[]) =>
    daywalkInProcess(args, { cwd, env: { DAYWALK_WAREHOUSE: warehouse.place.location, ...env } });
  const load = (lines: readonly string[], env = {}, ...flags: string[]) => {
    writeFileSync(join(cwd, 'events.csv'), `${['date,text,team,closed', ...lines].join('\n')}\n`);
    return daywalk(env, 'events', 'load', 'events.csv', '--json', ...flags);
  };
  const stored = async () =>
    (
      await warehouse.place.query<Record<string, unknown>>('SELECT * FROM events ORDER BY date, team, text')
    ).map(
      ({ date, team, text, closed }) => `${date} ${team}: ${text}${Number(closed) === 1 ? ', closed' : ''}`,
    );
  return { daywalk, load, stored };
}

const LINES = [
  '2026-12-25,Christmas,,yes',
  '2026-03-09,Price change,,',
  '2026-03-20,Offsite,core,yes',
  '2026-12-25,Year-end report,,',
];

onEachDatabase((database) => {
  it('events are replaced by those of the file, and a day that one line closes is closed in each', async () => {
    const { daywalk, load, stored } = await company(database);
    const first = await load(LINES);
    expect(first.code, first.stderr).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({
      org_id: 'org_1',
      events: 4,
      added: 4,
      removed: 0,
      warnings: [],
    });
    expect(await stored()).toEqual([
      '2026-03-09 : Price change',
      '2026-03-20 core: Offsite, closed',
      '2026-12-25 : Christmas, closed',
      '2026-12-25 : Year-end report, closed',
    ]);
    const { stdout } = await daywalk({}, 'events', 'list', '--csv');
    const again = JSON.parse((await load(stdout.trim().split('\n').slice(1))).stdout);
    expect(again).toMatchObject({ added: 0, changed: 0, removed: 0, unchanged: 4 });
    expect(JSON.parse((await load(['2026-03-09,Price change,,'])).stdout)).toMatchObject({
      removed: 3,
      unchanged: 1,
    });
    expect(await stored()).toEqual(['2026-03-09 : Price change']);
  });

  it('what the policy does not keep is in no event, whether it is loaded or applied later', async () => {
    const { daywalk, load, stored } = await company(database);
    const lines = [
      '2026-03-01,Ada left,,yes',
      '2026-03-01,mail to ada@example.com,,',
      '2026-03-02,Release,core,',
    ];
    const withheld = ['2026-03-01 : [withheld], closed', '2026-03-02 core: [withheld]'];
    await load(lines);
    const drop = await load(lines, { DAYWALK_EMAILS: 'drop' });
    expect(drop.code, drop.stderr).toBe(0);
    expect((await stored()).join()).not.toContain('ada@');
    expect((await stored()).join()).toContain('Release');
    const none = { DAYWALK_EMAILS: 'drop', DAYWALK_USERS: 'none' };
    const applied = await daywalk(none, 'privacy', 'apply', '--yes');
    expect(applied.code, applied.stderr).toBe(0);
    expect(await stored()).toEqual(withheld);
    const again = await load(lines, none);
    expect(again.code, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ events: 2, unchanged: 2 });
    expect(await stored()).toEqual(withheld);
  });

  it('an erased person is replaced in events, before and after', async () => {
    const { daywalk, load, stored } = await company(database);
    const lines = ['2026-03-01,asked by ada@example.com,,'];
    await load(lines);
    expect(await stored()).toEqual(['2026-03-01 : asked by ada@example.com']);
    const erased = await daywalk({}, 'erase', '--user', 'ada');
    expect(erased.code, erased.stderr).toBe(0);
    const after = await stored();
    expect(after).toHaveLength(1);
    expect(after.join()).not.toContain('ada@');
    expect(JSON.parse((await load(lines)).stdout)).toMatchObject({ unchanged: 1 });
    expect(await stored()).toEqual(after);
  });
});

it('events of a day whose people expire lose their text with it, also if the file is loaded again', {
  tags: 'ci/rare',
}, async () => {
  const { daywalk, load, stored } = await company(sqlite);
  const lines = ['2026-02-02,Ada left,,yes', '2026-06-30,Release,,'];
  await load(lines);
  const env = { DAYWALK_RETAIN_USERS: '100d', DAYWALK_NOW: '2026-07-01T03:00:00Z' };
  const { code, stderr } = await daywalk(env, 'retention');
  expect(code, stderr).toBe(0);
  const kept = ['2026-02-02 : [withheld], closed', '2026-06-30 : Release'];
  expect(await stored()).toEqual(kept);
  expect(JSON.parse((await load(lines)).stdout)).toMatchObject({ unchanged: 2 });
  expect(await stored()).toEqual(kept);
});

it('a file with a mistake stores nothing, and a team that nobody is in is a warning', async () => {
  const { load, stored } = await company(sqlite);
  const wrong = await load([
    '2026-03-01,Release,,',
    '2026-03-01,Release,,',
    '2026-13-01,x,,',
    '2026-03-02,y,,no',
  ]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('events.csv:4: date "2026-13-01" is not a calendar day');
  expect(wrong.stderr).toContain('events.csv:5: closed "no" is not yes');
  expect((await load(['2026-03-01,Release,,', '2026-03-01,Release,,'])).stderr).toContain(
    'line 2 says the same',
  );
  expect(await stored()).toEqual([]);
  const { warnings } = JSON.parse((await load(['2026-03-01,Release,corre,'])).stdout);
  expect(warnings).toEqual(['Nobody is in the team "corre" (did you mean "core"?).']);
});

it('the screen shows what has changed and lists the events', async () => {
  const { daywalk, load } = await company(sqlite);
  await load(LINES);
  const { stdout } = await daywalk({}, 'events', 'list');
  expect(stdout).toMatch(
    /^DATE +TEAM +EVENT +CLOSED\n2026-03-09 +all +Price change *\n2026-03-20 +core +Offsite +yes\n/,
  );
});
