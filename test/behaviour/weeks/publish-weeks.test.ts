import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { STREAMS } from '../../../src/core/stream.ts';
import { agreeContract } from '../../../src/expected/contract.ts';
import { publishWeeks } from '../../../src/weeks/publish-weeks.ts';
import { connectAssistant } from '../../support/assistants/client.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { settledRig } from '../../support/rig/exported-rig.ts';
import type { Rig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const TODAY = '2026-02-10';
/** The weeks of which every day has settled on this day. */
const WEEKS = ['2026-01-19', '2026-01-26'];

interface Published {
  readonly week_start: string;
  readonly dimension: string;
  readonly block: string;
  readonly metric: string;
  readonly people: number | null;
  readonly value: number | null;
}

const publishedOf = (rig: Rig) =>
  rig.sql<Published>(
    'SELECT week_start, dimension, block, metric, people, value FROM published_weeks ORDER BY 1, 2, 3, 4',
  );

const daywalk = (rig: Rig, folder: string) => (line: string) =>
  daywalkInProcess(line.split(' '), {
    env: { DAYWALK_WAREHOUSE: rig.path, DAYWALK_NOW: `${TODAY}T05:00:00Z` },
    cwd: folder,
  });

/** Loads each user into one of some teams; `moved` of them into another one. */
async function loadTeams(rig: Rig, folder: string, { teams = 4, moved = 0 } = {}, ...flags: string[]) {
  const users = await rig.column('SELECT user_id FROM users ORDER BY user_id');
  const lines = users.map((user, index) => `${user},team ${(index + (index < moved ? 1 : 0)) % teams}`);
  writeFileSync(join(folder, 'people.csv'), ['user_id,team', ...lines].join('\n'));
  const ended = await daywalk(rig, folder)(['people load people.csv --json', ...flags].join(' '));
  expect(ended).toMatchObject({ code: 0 });
  const loaded: {
    published: { weeks: number; blocks: { week_start: string; block: string; people: number }[] };
  } = JSON.parse(ended.stdout);
  return loaded.published;
}

const nextRun = (rig: Rig) => rig.run({ now: rig.today });

onEachDatabase((database) => {
  describe('a run', () => {
    test('publishes each settled week once, and nothing changes it later', { timeout: 120_000 }, async () => {
      const rig = await settledRig({ users: 60, reports: 0, today: TODAY }, { database });
      const first = await publishedOf(rig);
      expect([...new Set(first.map(({ week_start }) => week_start))]).toEqual(WEEKS);
      for (const week of WEEKS) {
        const [own] = await rig.sql<{ people: number; credits: number; published: number }>(
          `SELECT COUNT(DISTINCT user_id) AS people, SUM(billable_tokens) AS credits,
            (SELECT SUM(billable_tokens) FROM tokens_daily WHERE date BETWEEN ? AND ?) AS published
          FROM user_daily WHERE date BETWEEN ? AND ?`,
          ...[week, shiftDay(week as UtcDay, 6), week, shiftDay(week as UtcDay, 6)],
        );
        const total = (metric: string) =>
          first.find((row) => row.week_start === week && row.dimension === 'total' && row.metric === metric);
        expect(total('billable_tokens')).toMatchObject({ people: Number(own?.people), value: own?.credits });
        expect(total('published_billable_tokens')).toMatchObject({ value: own?.published });
      }
      expect(Math.min(...first.map(({ people }) => people ?? 5))).toBeGreaterThanOrEqual(5);
      await rig.place.execute('UPDATE user_daily SET billable_tokens = billable_tokens + 1');
      await rig.place.execute('UPDATE user_weekly SET billable_tokens = billable_tokens + 1');
      await nextRun(rig);
      expect(await publishedOf(rig)).toEqual(first);
    });

    test('adds the teams of the first people and the cost of the first prices once', {
      tags: 'ci/rare',
      timeout: 120_000,
    }, async () => {
      const rig = await settledRig({ users: 60, reports: 0, today: TODAY }, { database });
      const folder = tempDir();
      const preview = await loadTeams(rig, folder, {}, '--dry-run');
      expect(preview.weeks).toBe(WEEKS.length);
      const loaded = await loadTeams(rig, folder);
      expect(loaded).toEqual({ weeks: WEEKS.length, blocks: [] });
      const before = await publishedOf(rig);
      await nextRun(rig);
      const withTeams = await publishedOf(rig);
      const teams = withTeams.filter(({ dimension }) => dimension === 'team');
      const blocks = teams
        .filter(({ metric }) => metric === 'sessions')
        .map(({ week_start, block, people }) => ({ week_start, block, people }));
      expect(blocks).toEqual(
        preview.blocks.toSorted((a, b) =>
          `${a.week_start} ${a.block}` < `${b.week_start} ${b.block}` ? -1 : 1,
        ),
      );
      expect(blocks.length).toBeGreaterThan(WEEKS.length);
      expect(withTeams.filter(({ dimension }) => dimension !== 'team')).toEqual(before);

      const moved = await loadTeams(rig, folder, { moved: 1 });
      expect(moved.weeks).toBe(0);
      writeFileSync(
        join(folder, 'prices.csv'),
        'valid_from,valid_to,currency,price_per_million\n2026-01-01,2026-01-28,EUR,3\n2026-01-29,,EUR,4\n',
      );
      expect(await daywalk(rig, folder)('prices load prices.csv')).toMatchObject({ code: 0 });
      await nextRun(rig);
      const withCost = await publishedOf(rig);
      expect(withCost.filter(({ metric }) => metric !== 'cost')).toEqual(withTeams);
      const costs = withCost.filter(({ metric }) => metric === 'cost');
      for (const { value, ...cost } of costs.filter(({ week_start }) => week_start === WEEKS[0])) {
        if (cost.dimension === 'currency') {
          expect(cost.block).toBe('EUR');
          continue;
        }
        const credits = withTeams.find(
          (row) =>
            row.metric === 'billable_tokens' &&
            row.week_start === cost.week_start &&
            row.dimension === cost.dimension &&
            row.block === cost.block,
        );
        expect(value).toBeCloseTo(((credits?.value ?? 0) * 3) / 1e6, 9);
      }
      // The price changes within the second week: cost and credits would tell its first days from the others.
      expect(costs.filter(({ week_start }) => week_start === WEEKS[1])).toEqual([
        expect.objectContaining({ dimension: 'total', value: null }),
      ]);
      await nextRun(rig);
      expect(await publishedOf(rig)).toEqual(withCost);
    });

    test('adds no teams to a week that was restated since it was published', {
      timeout: 120_000,
      tags: 'ci/variant',
    }, async () => {
      const rig = await settledRig({ users: 60, reports: 0, today: TODAY }, { database });
      await rig.place.execute(
        `UPDATE user_daily SET sessions = sessions + 1 WHERE date = '2026-01-27' AND user_id = (SELECT MIN(user_id) FROM user_daily WHERE date = '2026-01-27')`,
      );
      await loadTeams(rig, tempDir());
      await nextRun(rig);
      const teams = (await publishedOf(rig)).filter(({ dimension }) => dimension === 'team');
      expect(teams.filter(({ week_start }) => week_start === WEEKS[0]).length).toBeGreaterThan(1);
      expect(teams.filter(({ week_start }) => week_start === WEEKS[1])).toEqual([
        expect.objectContaining({ block: '', metric: '', value: null }),
      ]);
    });
  });
});

describe('a week', () => {
  test('that a killed run did not reach is published by the next one as if nothing had happened', {
    timeout: 120_000,
  }, async () => {
    const rig = await settledRig({ users: 60, reports: 0, today: TODAY });
    const whole = await publishedOf(rig);
    // Each week is one transaction, so a kill leaves whole weeks.
    await rig.place.execute(`DELETE FROM published_weeks WHERE week_start = '${WEEKS[1]}'`);
    await nextRun(rig);
    expect(await publishedOf(rig)).toEqual(whole);
  });

  test('waits for every day, and reports say for how long', { timeout: 120_000 }, async () => {
    const rig = await settledRig({ users: 60, reports: 0, today: TODAY });
    const report = daywalk(rig, tempDir());
    await rig.place.execute('DELETE FROM published_weeks');
    await rig.place.execute(
      "UPDATE export_units SET settled_at = NULL, confirmed = NULL WHERE date >= '2026-01-21' AND stream = 'tools'",
    );
    const refused = await report('report --out all.html --audience public');
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('the week of 2026-01-19 waits for 5 days that are not settled');
    expect(refused.stderr).toMatch(/hint: the earliest night on which a run can publish it is 2026-02-1\d/);
    await rig.place.execute(
      "UPDATE export_units SET settled_at = '2026-02-09T03:00:00.000Z', confirmed = 'age' WHERE date >= '2026-01-21' AND stream = 'tools'",
    );
    await rig.place.execute(
      "UPDATE export_units SET state = 'doubted' WHERE date = '2026-01-30' AND stream = 'users'",
    );
    const warehouse = await open(rig.place);
    const orgId = (await rig.value('SELECT MIN(org_id) FROM export_units')) ?? '';
    expect(await publishWeeks(warehouse, { orgId, minGroup: 5 })).toBe(1);
    expect(await rig.column('SELECT DISTINCT week_start FROM published_weeks')).toEqual(['2026-01-19']);
    expect(await report('report --out all.html --audience public')).toMatchObject({ code: 0 });
  });

  test('of fewer people than the limit is never published, and says so', {
    timeout: 120_000,
    tags: 'ci/variant',
  }, async () => {
    const rig = await settledRig({ users: 6, reports: 0, today: TODAY });
    expect(new Set((await publishedOf(rig)).map(({ metric }) => metric))).toEqual(new Set(['']));
    const refused = await daywalk(rig, tempDir())('report --out all.html --audience public');
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('too few people were active in the week of 2026-01-19');
  });

  test('that was restated since keeps its numbers, and the report and assistants say so', {
    timeout: 120_000,
  }, async () => {
    const rig = await settledRig({ users: 60, reports: 0, today: TODAY });
    // Sums of fractions in another order differ in their last digits.
    await rig.place.execute('UPDATE user_weekly SET billable_tokens = billable_tokens * 1.000000000000002');
    const folder = tempDir();
    const report = async () => {
      const ended = await daywalk(rig, folder)(`report --out ${join(folder, 'all.html')} --audience team`);
      expect(ended).toMatchObject({ code: 0 });
      return readFileSync(join(folder, 'all.html'), 'utf8');
    };
    expect(await report()).not.toContain('Restated since');
    await rig.place.execute("UPDATE user_weekly SET sessions = sessions + 1 WHERE week_start = '2026-01-19'");
    expect(await report()).toContain('Restated since: the weeks of 19 January.');
    // So is a week of which only what the service publishes for the whole organization has changed.
    await rig.place.execute(
      "UPDATE tokens_daily SET input_tokens = input_tokens + 1 WHERE date = '2026-01-28'",
    );
    expect(await report()).toContain('Restated since: the weeks of 19 January, 26 January.');
    const team = { now: `${TODAY}T05:00:00Z`, audience: 'team', minGroup: 5 } as const;
    const { call } = await connectAssistant(rig.place, team);
    const { words } = await call('query_metric', { metric: 'sessions' });
    expect(words).toContain('weeks that were restated since keep their numbers: 2026-01-19, 2026-01-26');
  });
});

test('costs of weeks in two currencies are neither added nor compared, whoever asks', {
  timeout: 120_000,
  tags: 'ci/rare',
}, async () => {
  const rig = await settledRig({ users: 60, reports: 0, today: TODAY });
  const folder = tempDir();
  const ask = daywalk(rig, folder);
  const costs = async (dimension: string) =>
    (await publishedOf(rig)).filter((row) => row.metric === 'cost' && row.dimension === dimension);
  const prices = (...lines: readonly string[]) =>
    writeFileSync(
      join(folder, 'prices.csv'),
      ['valid_from,valid_to,currency,price_per_million', ...lines].join('\n'),
    );
  prices('2026-01-01,2026-01-25,EUR,3', '2026-01-26,,USD,4');
  await ask('prices load prices.csv');
  await nextRun(rig);
  expect((await costs('currency')).map(({ block }) => block)).toEqual(['EUR', 'USD']);

  await ask('report --out all.html --audience public');
  const all = readFileSync(join(folder, 'all.html'), 'utf8');
  expect(all).toContain('Costs are left out, because the prices of these weeks are in EUR and USD.');
  expect(all).not.toMatch(/>Cost( per active user)?</);
  await ask('report --out one.html --audience public --from 2026-01-26 --until 2026-02-01');
  const one = readFileSync(join(folder, 'one.html'), 'utf8');
  expect(one).toContain('Costs are in USD.');
  expect(one).toMatch(/>Cost per active user</);
  await ask('brief --out brief --audience team --week 2026-01-26');
  const brief = readFileSync(join(folder, 'brief/body.txt'), 'utf8');
  expect(brief.replaceAll(/\s+/g, ' ')).toContain('the prices of these weeks are in EUR and USD');
  expect(brief).not.toMatch(/^Cost /m);
  const team = { now: `${TODAY}T05:00:00Z`, audience: 'team', minGroup: 5 } as const;
  const { call } = await connectAssistant(rig.place, team);
  const refused = await call('query_metric', { metric: 'cost' });
  expect(refused.words).toContain('the weeks have prices in EUR and USD');
  const week = { metric: 'cost', from: '2026-01-26', until: '2026-02-01' };
  expect((await call('query_metric', week)).data).toMatchObject({ unit: 'USD' });

  // Teams that come later have the price that is published, whatever is loaded now.
  prices('2026-01-01,,JPY,400');
  await ask('prices load prices.csv');
  await loadTeams(rig, folder);
  await nextRun(rig);
  expect((await costs('currency')).map(({ block }) => block)).toEqual(['EUR', 'USD']);
  for (const { week_start, value } of await costs('total')) {
    const teams = (await costs('team')).filter((row) => row.week_start === week_start);
    expect(teams.length).toBeGreaterThan(1);
    expect(teams.reduce((sum, row) => sum + (row.value ?? 0), 0)).toBeCloseTo(value ?? 0, 6);
  }
});

test('a week that was published without its currency keeps its cost, and gets the currency of the price that gives it', {
  timeout: 120_000,
  tags: 'ci/rare',
}, async () => {
  const rig = await settledRig({ users: 60, reports: 0, today: TODAY });
  const folder = tempDir();
  const costs = async (dimension: string) =>
    (await publishedOf(rig)).filter((row) => row.metric === 'cost' && row.dimension === dimension);
  const priced = async (...lines: readonly string[]) => {
    const header = 'valid_from,valid_to,currency,price_per_million';
    writeFileSync(join(folder, 'prices.csv'), [header, ...lines].join('\n'));
    await daywalk(rig, folder)('prices load prices.csv');
    await nextRun(rig);
  };
  await priced('2026-01-01,,EUR,3');
  const totals = await costs('total');
  // As an earlier version published weeks.
  await rig.place.execute("DELETE FROM published_weeks WHERE dimension = 'currency'");
  await priced('2026-01-01,2026-01-25,EUR,3', '2026-01-26,,JPY,400');
  expect(await costs('total')).toEqual(totals);
  const stored = (await costs('currency')).map(({ block, value }) => ({ block, value }));
  expect(stored).toEqual([
    { block: 'EUR', value: expect.closeTo(totals[0]?.value ?? 0, 6) },
    { block: 'XXX', value: expect.closeTo(totals[1]?.value ?? 0, 6) },
  ]);
  await loadTeams(rig, folder);
  await nextRun(rig);
  for (const [index, { week_start }] of totals.entries()) {
    const teams = (await costs('team')).filter((row) => row.week_start === week_start);
    expect(teams.reduce((sum, row) => sum + (row.value ?? 0), 0)).toBeCloseTo(totals[index]?.value ?? 0, 6);
  }
  // A week without credits costs nothing at any price, also at that of today.
  await rig.place.execute("DELETE FROM published_weeks WHERE dimension = 'currency'");
  await rig.place.execute(
    `UPDATE published_weeks SET value = 0 WHERE week_start = '${totals[1]?.week_start}' AND dimension = 'total' AND metric IN ('cost', 'billable_tokens')`,
  );
  await nextRun(rig);
  expect((await costs('currency')).map(({ block, value }) => ({ block, value }))).toEqual([
    { block: 'EUR', value: expect.closeTo(totals[0]?.value ?? 0, 6) },
    { block: 'JPY', value: 0 },
  ]);
});

test('a team that is named like a person is among the others', {
  tags: 'ci/rare',
  timeout: 120_000,
}, async () => {
  const rig = await settledRig({ users: 60, reports: 0, today: TODAY });
  const folder = tempDir();
  const users = await rig.column('SELECT user_id FROM users ORDER BY user_id');
  const names = [users[0], 'Friends of ada@example.com', 'Team of Ada Lovelace', 'core'];
  const lines = users.map(
    (user, index) => `${user},${names[index % 4]},${index === 0 ? 'Ada Lovelace' : ''}`,
  );
  writeFileSync(join(folder, 'people.csv'), ['user_id,team,name', ...lines].join('\n'));
  expect(await daywalk(rig, folder)('people load people.csv')).toMatchObject({ code: 0 });
  await nextRun(rig);
  const teams = (await publishedOf(rig)).filter(({ dimension }) => dimension === 'team');
  expect(new Set(teams.map(({ block }) => block))).toEqual(new Set(['core', 'others']));
});

test('files of fewer people than the limit are in no total', {
  timeout: 120_000,
  tags: 'ci/variant',
}, async () => {
  const rig = await settledRig({ users: 60, reports: 0, today: TODAY });
  const totals = async () =>
    (await publishedOf(rig)).filter(({ dimension }) => dimension === 'total').map(({ metric }) => metric);
  expect(await totals()).toContain('published_language_files');
  await rig.place.execute('DELETE FROM published_weeks');
  await rig.place.execute(
    'DELETE FROM user_daily_languages WHERE user_id NOT IN (SELECT user_id FROM users ORDER BY user_id LIMIT 4)',
  );
  await nextRun(rig);
  expect(await totals()).not.toContain('published_language_files');
  expect(await totals()).toContain('sessions');
});

test('a warehouse that stores nothing about single people publishes totals only', {
  timeout: 120_000,
}, async () => {
  const rig = await settledRig({ users: 60, reports: 0, today: TODAY }, { database: sqlite });
  for (const table of ['published_weeks', 'user_daily', 'user_daily_languages', 'tokens_daily_by_user_model'])
    await rig.place.execute(`DELETE FROM ${table}`);
  const warehouse = await open(rig.place);
  const orgId = (await rig.value('SELECT MIN(org_id) FROM export_units')) ?? '';
  const streams = STREAMS.filter((stream) => stream !== 'users');
  const asked = { firstDay: null, streams, maxAgeSeconds: null };
  await agreeContract(warehouse, { orgId, asked, now: new Date('2026-03-01T03:00:00Z') });
  await publishWeeks(warehouse, { orgId, minGroup: 5 });
  const published = await publishedOf(rig);
  expect(new Set(published.map(({ dimension }) => dimension))).toEqual(new Set(['total']));
  expect(published.map(({ people }) => people)).toEqual(published.map(() => null));
  expect(published.find(({ metric }) => metric === 'published_sessions')?.value).toBeGreaterThan(0);
});
