import { expect, it } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { crawl } from '../../support/dashboard/crawl.ts';
import { serve } from '../../support/dashboard/serve.ts';
import { Collector } from '../../support/metrics/collector.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { type Database, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const TEAMS = ['core', "o'ps & <b>", null] as const;
const MODELS = ['atlas', 'borealis/3 "x"', 'cirrus'] as const;
const STREAMS = ['users', 'tokens', 'tools', 'activity', 'productivity'] as const;

/**
 * A warehouse with nine people, three models and two prices from 1 February to 19 March. A tenth of the credits is without a model, and the
 * service publishes some that belong to nobody. One person leaves, and one comes.
 */
async function companyPlace(database: Database, { keepsUsers = true }: { keepsUsers?: boolean } = {}) {
  const warehouse = await open(database);
  const rows = new Collector('org_1');
  for (const [index, date] of daysFrom(parseDay('2026-02-01'), parseDay('2026-03-19')).entries()) {
    const at = `2026-03-20T03:00:00.000Z`;
    for (const stream of STREAMS.filter((name) => keepsUsers || name !== 'users')) {
      rows.add(tables.exportUnits, {
        ...{ stream, date, state: 'loaded', run_id: 'run 1', rows: 2, attempts: 1, requests: 1 },
        ...{ content_sha256: `content ${date}`, first_loaded_at: at, last_pulled_at: at, changed_at: at },
        ...{ settled_at: at, confirmed: 'data' },
      });
    }
    const byModel = new Map<string, number>();
    for (let person = 0; person < 9; person += 1) {
      const isThere = person === 0 ? date < '2026-03-01' : person === 1 ? date >= '2026-03-01' : true;
      if (!isThere || (index + person) % 3 === 0) continue;
      const user_id = `user_${person}_0123456789`;
      const credits = 1_000 + 137 * person + 11 * index;
      if (keepsUsers) rows.add(tables.userDaily, { date, user_id, sessions: 1, billable_tokens: credits });
      for (const [place, model_id] of MODELS.entries()) {
        const own = Math.floor((credits * 0.9 * (place + 1)) / 6);
        if (keepsUsers)
          rows.add(tables.tokensDailyByUserModel, {
            date,
            user_id,
            model_id,
            billable_tokens: own,
            input_tokens: 2 * own,
          });
        byModel.set(model_id, (byModel.get(model_id) ?? 0) + own);
      }
    }
    for (const [model_id, own] of byModel)
      rows.add(tables.tokensDailyByModel, { date, model_id, billable_tokens: own + 500 });
  }
  for (let person = 0; keepsUsers && person < 9; person += 1) {
    const team = TEAMS[person % TEAMS.length] ?? null;
    const user_id = `user_${person}_0123456789`;
    rows.add(tables.people, {
      person: user_id,
      user_id,
      valid_from: '2026-01-01',
      team,
      name: `Name & ${person}`,
    });
  }
  rows.add(tables.prices, {
    ...{ valid_from: '2026-01-14', valid_to: '2026-02-28', currency: 'EUR', price_per_million: 5.5e3 },
  });
  rows.add(tables.prices, { valid_from: '2026-03-01', currency: 'EUR', price_per_million: 5.6e3 });
  if (!keepsUsers) {
    rows.add(tables.contracts, {
      ...{ first_day: '2026-02-01', streams: 'tokens,tools,activity,productivity,-users' },
      ...{ max_age_seconds: 100_000, changed_at: '2026-03-20T03:00:00.000Z' },
    });
  }
  rows.add(tables.budgets, { month: '2026-03', team: 'core', amount: 900, currency: 'EUR' });
  rows.add(tables.events, { date: '2026-03-04', team: '', text: 'Release <1>', closed: 0 });
  await changeRows(warehouse, { put: rows.all(), remove: [] });
  await refreshRollups(warehouse, { orgId: 'org_1', now: new Date('2026-03-20T03:00:00.000Z') });
  await warehouse.close();
  return warehouse.place;
}

onEachDatabase((database) => {
  testVariants([{ pages: 30 }, { pages: 120 }])(
    'on $pages pages, each number that is a link opens a page that begins with it, and the rows of tables add up',
    { tags: 'ci/rare' },
    async ({ pages }) => {
      const clock = new FakeClock({ now: '2026-03-20T09:00:00.000Z' });
      const served = await serve(await companyPlace(database), { clock });
      const found = await crawl(served, ['/', '/explore?value=cost', '/?team=core'], pages);
      expect(served.failures).toEqual([]);
      expect(found.wrong).toEqual([]);
      expect(found.pages.length).toBeGreaterThanOrEqual((5 * pages) / 6);
      expect(found.opened).toBeGreaterThan((5 * pages) / 6);
      expect(found.tables).toBeGreaterThan(pages / 6);
    },
  );

  it('a slice names who is not there any more, and what no model is known of', async () => {
    const clock = new FakeClock({ now: '2026-03-20T09:00:00.000Z' });
    const served = await serve(await companyPlace(database), { clock });
    const rowsOf = async (path: string) => {
      const { status, body } = await served.ask(`${path}&csv=rows`);
      expect(status, body).toBe(200);
      return body.split('\n').map((line) => line.split(','));
    };
    const people = await rowsOf('/explore?team=core&by=person&value=credits');
    expect(people.map(([name]) => name)).toEqual([
      ...['Person', 'Name & 6', 'Name & 3', 'not any more (1)', 'All people', ''],
    ]);
    const models = await rowsOf('/explore?team=core&by=model&value=credits');
    expect(models.map(([name]) => name)).toContain('without a model');
    expect(models.find(([name]) => name === 'All models')?.[1]).toBe(people.at(-2)?.[1]);
    const days = await rowsOf('/explore?model=atlas&by=day&value=cost');
    expect(days).toHaveLength(19 + 3);
  });

  it('the rows by day add up to the number of the page, and those of days that have expired are none', async () => {
    const clock = new FakeClock({ now: '2026-03-20T09:00:00.000Z' });
    const place = await companyPlace(database);
    const served = await serve(place, { clock });
    const linesOf = async (path: string) => {
      const { status, body } = await served.ask(path);
      expect([path, status]).toEqual([path, 200]);
      return body
        .trim()
        .split(/\r?\n/)
        .map((line) => line.split(','))
        .slice(1);
    };
    for (const slice of ['by=person&value=cost', 'team=core&by=model', 'model=atlas&by=team', 'by=team']) {
      const shown = (await linesOf(`/explore?${slice}&csv=rows`)).filter(
        ([name]) => !/^(All |without a )/.test(name ?? ''),
      );
      const daily = await linesOf(`/explore?${slice}&csv=daily-rows`);
      const sumOf = (rows: readonly string[][], column: number) =>
        rows.reduce((total, row) => total + Number(row[column]), 0);
      expect(sumOf(daily, 2), slice).toBeCloseTo(sumOf(shown, 1), 6);
      expect(new Set(daily.map(([day]) => day)).size, slice).toBe(19);
      expect(daily.length, slice).toBeGreaterThan(19);
    }
    await place.execute(
      "UPDATE export_units SET state = 'expired', content_sha256 = NULL WHERE stream = 'users' AND date < '2026-03-10'",
    );
    await place.execute("DELETE FROM user_daily WHERE date < '2026-03-10'");
    const { status, body } = await served.ask('/explore?by=person&value=credits');
    expect(status).toBe(200);
    expect(body).toMatch(/expired/);
    expect(body).not.toMatch(/<p class="sentence"><strong><data value="0"/);
    expect(served.failures).toEqual([]);
  });

  it('the tables of a person keep the names of their rows as CSV', async () => {
    const clock = new FakeClock({ now: '2026-03-20T09:00:00.000Z' });
    const served = await serve(await companyPlace(database), { clock });
    const linesOf = async (id: string) =>
      (await served.ask(`/people/user_6_0123456789?csv=${id}`)).body.trim().split(/\r?\n/);
    const [head, ...use] = await linesOf('use');
    expect(head).toBe('Column 1,Number,Change');
    expect(use.map((line) => line.split(',')[0])).toContain('Tool calls');
    expect(await linesOf('who')).toEqual([
      'Column 1,Column 2,From,To',
      'ID,user_6_0123456789,,',
      'Email,none is stored,,',
      'Name,Name & 6,2026-01-01,no end',
      'Team,core,2026-01-01,no end',
    ]);
  });

  it('whoever was erased is a row of a slice by person, and no link', async () => {
    const place = await companyPlace(database);
    for (const table of ['user_daily', 'user_weekly', 'user_monthly'])
      await place.execute(
        `UPDATE ${table} SET user_id = ? WHERE user_id = 'user_6_0123456789'`,
        `erased-${'0123456789abcdef'.repeat(2)}`,
      );
    const clock = new FakeClock({ now: '2026-03-20T09:00:00.000Z' });
    const { body } = await (await serve(place, { clock })).ask('/explore?by=person&value=credits');
    expect(body).toMatch(/<th[^>]*><bdi>unassigned<\/bdi><\/th>/);
    expect(body).not.toContain('/people/unassigned');
  });

  it('where nothing is kept of single users, no number of theirs is shown, and published ones are', async () => {
    const clock = new FakeClock({ now: '2026-03-20T09:00:00.000Z' });
    const served = await serve(await companyPlace(database, { keepsUsers: false }), { clock });
    const published = await served.ask('/explore?model=atlas&by=team&value=credits');
    expect(published.status).toBe(200);
    expect(published.body).toMatch(/<p class="sentence"><strong><data value="\d+"/);
    expect(published.body).not.toContain('people</strong>');
    expect(published.body).toContain('Nothing is kept of single users');
    for (const path of ['/explore?by=person', '/explore?value=cost', '/']) {
      const { status, body } = await served.ask(path);
      expect([path, status]).toEqual([path, 200]);
      expect(body).toContain('Nothing is kept of single users');
      expect(body).not.toMatch(/missing, so|by <strong><data value="0"/);
    }
    expect(served.failures).toEqual([]);
  });

  it('what does not exist is refused with what does', { tags: 'ci/rare' }, async () => {
    const clock = new FakeClock({ now: '2026-03-20T09:00:00.000Z' });
    const served = await serve(await companyPlace(database), { clock });
    for (const [query, words] of [
      ['model=atlass', 'did you mean atlas'],
      ['person=nobody', 'no row is of the user'],
      ['by=colour', 'choose one of person, team, model'],
      ['value=joy', 'choose one of cost, credits'],
      ['value=cost&csv=nothing', 'has no table'],
      ['team=core&team=web', 'team is given 2 times'],
      ['by=team&by=model', 'by is given 2 times'],
      ['client=cli', 'is no filter of this page'],
      ['user=ada', 'is no filter of this page'],
      ['models=atlas', 'choose from model, person'],
    ] as const) {
      const { status, body } = await served.ask(`/explore?${query}`);
      expect([query, status]).toEqual([query, 400]);
      expect(body.toLowerCase()).toContain(words);
    }
    // On every page: without the filter it would show the numbers of another organization, month or model.
    for (const address of [
      '/?organization=research',
      '/teams?month=2026-02',
      '/models?model=atlas',
      '/people?sort=-creditz',
    ])
      expect([address, (await served.ask(address)).status]).toEqual([address, 400]);
    expect((await served.ask('/people?utm_source=mail&sort=-credits')).status).toBe(200);
    for (const query of ['team=&model=atlas&model=atlas', 'utm_source=mail'])
      expect([query, (await served.ask(`/explore?${query}`)).status]).toEqual([query, 200]);
  });
});
