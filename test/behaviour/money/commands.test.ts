import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { type CostWorld, DAYS, ORG, storeCosts } from '../../support/money/random-costs.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const HEADER = 'valid_from,valid_to,currency,price_per_million';
const YEAR = { from: parseDay('2026-01-28'), until: parseDay('2026-12-31') };

/** Two users of one team with a million credits each on every day; March begins on a Sunday. */
const world: CostWorld = {
  uses: DAYS.flatMap((day) => ['u-1', 'u-2'].map((user) => ({ user, day, tokens: 1_000_000 }))),
  teams: [{ ...YEAR, user: 'u-1', team: 'core' }],
  prices: [],
  settled: new Set(DAYS.slice(0, -1)),
};

const WRONG = [
  ['an overlap', '2026-02-01,2026-02-28,EUR,2\n2026-02-28,,EUR,3', 'file.csv:3: '],
  ['the same period twice', '2026-02-01,,EUR,2\n2026-02-01,,EUR,2', 'file.csv:3: '],
  ['two currencies on one day', '2026-02-01,,EUR,2\n2026-03-01,,USD,2', 'in EUR and USD'],
  ['a reversed period', '2026-02-02,2026-02-01,EUR,2', 'file.csv:2: '],
  ['a currency that does not exist', '2026-02-01,,EURO,2', 'file.csv:2: '],
  ['a comma in a number', '2026-02-01,,EUR,"1.234,56"', 'file.csv:2: '],
  ['a negative price', '2026-02-01,,EUR,-1', 'file.csv:2: '],
  ['no line', '', 'no prices'],
] as const;

onEachDatabase((database) => {
  let warehouse: Held;
  let folder = '';

  beforeEach(async () => {
    warehouse = await open(database);
    folder = tempDir();
    await storeCosts(warehouse.place, world);
    await refreshRollups(warehouse, { orgId: ORG, now: new Date('2026-03-06T00:00:00Z') });
  });

  const daywalk = (...args: string[]) =>
    daywalkInProcess([...args, '--warehouse', warehouse.location, '--log', 'silent'], {
      ...{ cwd: folder, env: { DAYWALK_NOW: '2026-03-06T00:00:00Z' } },
    });
  const load = (what: 'prices' | 'budget', ...lines: string[]) => {
    writeFileSync(join(folder, 'file.csv'), `${lines.join('\n')}\n`);
    return daywalk(what, 'load', 'file.csv', '--json');
  };
  const stored = () => warehouse.place.query('SELECT valid_from, price_per_million FROM prices ORDER BY 1');

  describe('daywalk prices load', () => {
    test('replaces all prices and says what changed; the same file again changes nothing', async () => {
      await load('prices', HEADER, '2026-01-14,2026-02-28,EUR,2', '2026-03-01,,EUR,3');
      const second = await load('prices', HEADER, '2026-03-01,,EUR,4');
      expect(second.code).toBe(0);
      expect(JSON.parse(second.stdout)).toMatchObject({ added: 0, removed: 1, changed: 1, unchanged: 0 });
      expect(await stored()).toEqual([{ valid_from: '2026-03-01', price_per_million: 4 }]);
      const again = await load('prices', HEADER, '2026-03-01,,EUR,4');
      expect(JSON.parse(again.stdout)).toMatchObject({ unchanged: 1, changes: [] });
      const csv = await daywalk('prices', 'list', '--csv');
      expect(csv.stdout).toBe(`${HEADER}\n2026-03-01,,EUR,4\n`);
      await load('prices', HEADER, '2026-03-01,,EUR,0.000000123456789012345');
      const smallest = (await daywalk('prices', 'list', '--csv')).stdout.trim();
      expect(JSON.parse((await load('prices', smallest)).stdout)).toMatchObject({
        unchanged: 1,
        changes: [],
      });
    });

    test('refuses what is wrong with file, line and remedy, and stores nothing', async () => {
      await load('prices', HEADER, '2026-01-14,,EUR,2');
      for (const [what, lines, message] of WRONG) {
        const refused = await load('prices', HEADER, lines);
        expect(refused, what).toMatchObject({ code: 2, stdout: '' });
        expect(refused.stderr, what).toContain(message);
        expect(refused.stderr, what).toContain('hint');
      }
      expect(await stored()).toEqual([{ valid_from: '2026-01-14', price_per_million: 2 }]);
    });
  });

  describe('daywalk budget check', () => {
    const check = async (...lines: string[]) => {
      await load('budget', 'month,team,amount,currency', ...lines);
      const { code, stdout } = await daywalk('budget', 'check', '--json');
      return { code, check: JSON.parse(stdout) };
    };

    test('exits with 5 above the budget or with a forecast above it, otherwise with 0', async () => {
      await load('prices', HEADER, '2026-01-14,,EUR,1');
      // Core has spent 4, of which 3 on settled days; two of 22 weekdays are settled.
      expect(await check('2026-03,core,33,EUR')).toMatchObject({
        code: 0,
        check: { month: '2026-03', teams: [{ cost_so_far: 4, cost_forecast: 33, status: 'ok' }] },
      });
      expect(await check('2026-03,core,32.99,EUR')).toMatchObject({
        code: 5,
        check: { teams: [{ status: 'forecast over budget' }] },
      });
      expect(await check('2026-03,unassigned,3.99,EUR')).toMatchObject({
        code: 5,
        check: { teams: [{ status: 'over budget' }], without_budget: [{ team: 'core' }] },
      });
    });

    test('a day that an event closes for all is no working day of the forecast; one of a team stays one', async () => {
      await load('prices', HEADER, '2026-01-14,,EUR,1');
      writeFileSync(
        join(folder, 'events.csv'),
        [
          'date,text,team,closed',
          '2026-03-02,Founding day,,yes',
          '2026-03-07,Saturday,,yes',
          '2026-03-30,Stocktaking,,yes',
          '2026-03-31,Stocktaking,,yes',
          '2026-03-03,Retreat,core,yes',
        ].join('\n'),
      );
      await daywalk('events', 'load', 'events.csv');
      // Core has spent 3 on the settled days, of which one is a working day; 19 of 22 weekdays are not closed.
      expect(await check('2026-03,core,57,EUR')).toMatchObject({
        code: 0,
        check: { weekdays_settled: 1, weekdays: 19, teams: [{ cost_so_far: 4, cost_forecast: 57 }] },
      });
    });

    test('exits with 2 if a price is missing or has another currency, also beside a team above its budget', async () => {
      const lines = ['2026-03,core,1,EUR', '2026-03,unassigned,1,USD'];
      await load('prices', HEADER, '2026-01-14,,EUR,1');
      expect(await check(...lines)).toMatchObject({
        code: 2,
        check: { teams: [{ status: 'over budget' }, { status: 'other currency', cost_so_far: null }] },
      });
      await load('prices', HEADER, '2026-01-14,2026-03-02,EUR,1');
      expect(await check('2026-03,core,1000,EUR')).toMatchObject({
        code: 2,
        check: {
          teams: [{ status: 'no price', cost_so_far: null, cost_forecast: null }],
          without_price: [{ from: '2026-03-03', until: '2026-03-04' }],
        },
      });
    });

    test('counts the teams of the people and days that are stored, also before the rollups are computed', async () => {
      await load('prices', HEADER, '2026-01-14,,EUR,1');
      await warehouse.place.execute("UPDATE people SET team = 'web'");
      const moved = await check('2026-03,web,3,EUR');
      expect(moved).toMatchObject({
        code: 5,
        check: {
          teams: [{ team: 'web', cost_so_far: 4, cost_forecast: 33, status: 'over budget' }],
          without_budget: [{ team: 'unassigned', cost_so_far: 4 }],
        },
      });
      await warehouse.place.execute("UPDATE user_daily SET user_id = 'u-3' WHERE user_id = 'u-1'");
      await warehouse.place.execute(
        "UPDATE export_units SET content_sha256 = 'other' WHERE stream = 'users'",
      );
      await warehouse.place.execute("UPDATE people SET person = 'u-3'");
      expect(await check('2026-03,web,3,EUR')).toEqual(moved);
      await refreshRollups(warehouse, { orgId: ORG, now: new Date('2026-03-06T00:00:00Z') });
      expect(await check('2026-03,web,3,EUR')).toEqual(moved);
    });

    test('names of teams that look the same are one name, and one that cannot be seen is none', async () => {
      for (const name of ['\u200b', '\u200d\ufe0f', ' \u2060 ', 'unassigned\u200b']) {
        writeFileSync(join(folder, 'people.csv'), `user_id,team\nu-1,${name}\n`);
        expect((await daywalk('people', 'load', 'people.csv')).code, JSON.stringify(name)).toBe(2);
      }
      writeFileSync(join(folder, 'people.csv'), 'user_id,team\nu-1,co\u200bre\nu-2,core\u00ad\n');
      expect(await daywalk('people', 'load', 'people.csv')).toMatchObject({ code: 0 });
      expect(await warehouse.place.query('SELECT DISTINCT team FROM people')).toEqual([{ team: 'core' }]);
    });

    test('finds a team whose name has unseen characters or its accents in characters of their own', async () => {
      const [composed, decomposed] = ['\u00dcber', 'U\u0308ber'];
      for (const [inPeople, inBudget] of [
        [composed, decomposed],
        [decomposed, composed],
        [composed, `${decomposed}\u200b `],
      ]) {
        writeFileSync(join(folder, 'people.csv'), `user_id,team\nu-1,${inPeople}\n`);
        expect(await daywalk('people', 'load', 'people.csv')).toMatchObject({ code: 0 });
        await load('prices', HEADER, '2026-01-14,,EUR,1');
        expect(await check(`2026-03,${inBudget},3,EUR`)).toMatchObject({
          code: 5,
          check: { teams: [{ team: composed, cost_so_far: 4, status: 'over budget' }] },
        });
        const asked = await daywalk(
          'metric',
          'cost',
          '--from',
          '2026-03-01',
          '--team',
          inBudget ?? '',
          '--csv',
        );
        expect(asked).toMatchObject({ code: 0, stdout: 'value\n4\n' });
      }
    });

    test('finds a team that is named by an address, of which a policy keeps a pseudonym', async () => {
      const drop = ['file.csv', '--emails', 'drop'];
      await load('prices', HEADER, '2026-01-14,,EUR,1');
      writeFileSync(join(folder, 'file.csv'), 'user_id,team\nu-1,boss@example.com\n');
      expect((await daywalk('people', 'load', ...drop)).code).toBe(0);
      const budgets = ['month,team,amount,currency', '2026-03,boss@example.com,3,EUR'];
      writeFileSync(join(folder, 'file.csv'), budgets.join('\n'));
      expect(await daywalk('budget', 'load', ...drop)).toMatchObject({ code: 0 });
      const found = await daywalk('budget', 'check', '--json');
      expect(found.stdout).not.toContain('boss@');
      expect(JSON.parse(found.stdout)).toMatchObject({ teams: [{ cost_so_far: 4, status: 'over budget' }] });
      writeFileSync(join(folder, 'file.csv'), [...budgets, '2026-03,Boss@Example.com,5,EUR'].join('\n'));
      const doubled = await daywalk('budget', 'load', ...drop);
      expect(doubled).toMatchObject({ code: 2, stderr: expect.stringContaining('file.csv:3: line 2 has') });
    });

    test('of a month without a budget exits with 2, and of a month to come with 0', async () => {
      await load('budget', 'month,team,amount,currency', '2026-05,core,1,EUR');
      expect(await daywalk('budget', 'check')).toMatchObject({ code: 2, stdout: '' });
      const later = await daywalk('budget', 'check', '--month', '2026-05');
      expect(later.code).toBe(0);
      expect(later.stdout).toContain('No day of 2026-05 is stored');
      expect(later.stdout).not.toContain('missing');
      const begun = await daywalk('budget', 'check', '--month', '2026-05', '--json');
      expect(JSON.parse(begun.stdout)).toMatchObject({
        ...{ days: { expected: 0, settled: 0, missing: [] }, weekdays_settled: 0, without_price: [] },
        teams: [{ cost_so_far: null, cost_forecast: null, status: 'no data' }],
      });
    });
  });
});
