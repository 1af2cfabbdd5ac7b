import { describe, expect, it } from 'vitest';
import { dimensionsOf } from '../../../schema/metrics/define.ts';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { queryText, sql } from '../../../schema/query.ts';
import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import { answerMetric, metricQuery, metricSql } from '../../../src/metrics/answer-metric.ts';
import type { MetricQuestion } from '../../../src/metrics/question.ts';
import { frozen, type Warehouse } from '../../../src/port/warehouse.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { refresh, storePeople, storePrices, storeUsers } from '../../support/metrics/small-world.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { type Database, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const [FROM, UNTIL] = [parseDay('2026-02-26'), parseDay('2026-03-03')];

type Asked = Partial<Omit<MetricQuestion, 'metric'>>;

function questionOf(metric: string, asked: Asked): MetricQuestion {
  return { metric, orgId: 'org_1', by: [], from: FROM, until: UNTIL, ...asked };
}

/** The rows of an answer without names: the dimensions and the value of each. */
async function ask(warehouse: Warehouse, metric: string, asked: Asked = {}): Promise<unknown[][]> {
  const { rows } = await answerMetric(warehouse, questionOf(metric, asked));
  return rows.map((row) => Object.values(row));
}

async function warningsOf(warehouse: Warehouse, metric: string, asked: Asked = {}) {
  return (await answerMetric(warehouse, questionOf(metric, asked))).warnings;
}

/**
 * Thursday to Tuesday: on the 27th nothing happened, and the weekend and the last day are not stored. Ann is in team A in
 * February and in team B in March; Bob and Cat have no team, and Dan has a seat in team A and no user.
 */
const TEAM_DAYS = /(?:FROM|JOIN) team_daily/;
const USER_DAYS = /(?:FROM|JOIN) user_daily/;

async function smallWorld(database: Database) {
  const warehouse = await open(database);
  await storeUsers(warehouse, '2026-02-26', [
    { user_id: 'ann', sessions: 3, billable_tokens: 100, git_commits: 0, primary_model_tier: 'thinking' },
    { user_id: 'bob' },
  ]);
  await storeUsers(warehouse, '2026-02-27', []);
  await storeUsers(warehouse, '2026-03-02', [
    { user_id: 'ann', sessions: 2, billable_tokens: 300, git_commits: 4, primary_model_tier: 'standard' },
    { user_id: 'cat', sessions: 5, billable_tokens: 0, delegation_level: 'manual' },
  ]);
  await storePeople(warehouse, [
    { person: 'ann', valid_from: '2026-01-01', valid_to: '2026-02-28', team: 'A' },
    { person: 'ann', valid_from: '2026-03-01', valid_to: null, team: 'B' },
    { person: 'cat', valid_from: '2026-03-01', valid_to: null, team: null },
    { person: 'dan', valid_from: '2026-01-01', valid_to: null, team: 'A' },
  ]);
  return warehouse;
}

onEachDatabase((database) => {
  it('an answer asks the database for the same rows once', async () => {
    const warehouse = await smallWorld(database);
    await refresh(warehouse);
    const asked: string[] = [];
    const heard: Warehouse = {
      ...warehouse,
      select(query) {
        asked.push(queryText(query));
        return warehouse.select(query);
      },
    };
    await answerMetric(heard, questionOf('billable_tokens', { by: ['team'] }));
    expect(asked.some((text) => text.includes('FROM people'))).toBe(true);
    expect(asked).toEqual([...new Set(asked)]);
    const remembers = frozen(heard);
    expect(frozen(remembers)).toBe(remembers);
  });

  it('every metric by every dimension is a query of the database', async () => {
    const warehouse = await open(database);
    const period = { from: FIRST_DAY, until: FIRST_DAY };
    for (const metric of allMetrics) {
      const own = dimensionsOf(metric).map((dimension) => [dimension]);
      const needed = metric.measure.kind === 'snapshot' ? (metric.measure.needs ?? []) : [];
      for (const by of [[], ...own]) {
        const all = [...new Set([...by, ...[needed].flat()])];
        const question = { metric: metric.name, orgId: 'org_1', by: all, ...period };
        const rows = await warehouse.select(metricQuery(warehouse.dialect, question));
        expect(rows.map(({ value }) => value).filter((value) => value !== null)).toEqual([]);
      }
    }
  });

  describe('an answer', () => {
    it('has a row for each bucket of the period: NULL where nothing is stored, 0 where nothing happened', async () => {
      const warehouse = await smallWorld(database);
      expect(await ask(warehouse, 'active_users', { by: ['date'] })).toEqual([
        ['2026-02-26', 2],
        ['2026-02-27', 0],
        ['2026-02-28', null],
        ['2026-03-01', null],
        ['2026-03-02', 2],
        ['2026-03-03', null],
      ]);
      expect(await ask(warehouse, 'sessions_per_active_user', { by: ['date'] })).toEqual([
        ['2026-02-26', 1.5],
        ['2026-02-27', null],
        ['2026-02-28', null],
        ['2026-03-01', null],
        ['2026-03-02', 3.5],
        ['2026-03-03', null],
      ]);
      expect(await ask(warehouse, 'sessions', { from: parseDay('2026-02-28'), until: UNTIL })).toEqual([[7]]);
      const hole = { from: parseDay('2026-02-28'), until: parseDay('2026-03-01') };
      expect(await ask(warehouse, 'sessions', hole)).toEqual([[null]]);
      expect(await ask(warehouse, 'sessions', { ...hole, by: ['user'] })).toEqual([]);
    });

    it('recomputes each number for each bucket, clipped to the period, and keeps a sum NULL where no row has it', async () => {
      const warehouse = await smallWorld(database);
      expect(await ask(warehouse, 'active_users')).toEqual([[3]]);
      expect(await ask(warehouse, 'sessions_per_active_user')).toEqual([[expect.closeTo(10 / 3)]]);
      expect(await ask(warehouse, 'active_users', { by: ['week'] })).toEqual([
        ['2026-02-23', 2],
        ['2026-03-02', 2],
      ]);
      expect(await ask(warehouse, 'thinking_share', { by: ['month'] })).toEqual([
        ['2026-02', 1],
        ['2026-03', 0],
      ]);
      expect(await ask(warehouse, 'thinking_share')).toEqual([[0.25]]);
      expect(await ask(warehouse, 'tokens_per_commit', { by: ['month'] })).toEqual([
        ['2026-02', null],
        ['2026-03', 75],
      ]);
      expect(await ask(warehouse, 'sessions', { by: ['month', 'user'] })).toEqual([
        ['2026-02', 'ann', 3],
        ['2026-02', 'bob', null],
        ['2026-03', 'ann', 2],
        ['2026-03', 'cat', 5],
      ]);
      const clipped = { from: parseDay('2026-02-27'), by: ['month'] as const };
      expect(await ask(warehouse, 'sessions', clipped)).toEqual([
        ['2026-02', 0],
        ['2026-03', 7],
      ]);
    });

    it('uses the team on the date of each row, so that who moved counts in both', async () => {
      const warehouse = await smallWorld(database);
      expect(await ask(warehouse, 'active_users', { by: ['team'] })).toEqual([
        ['A', 1],
        ['B', 1],
        [null, 2],
      ]);
      expect(await ask(warehouse, 'sessions', { by: ['team', 'month'] })).toEqual([
        ['A', '2026-02', 3],
        ['B', '2026-03', 2],
        [null, '2026-02', null],
        [null, '2026-03', 5],
      ]);
      expect(await ask(warehouse, 'sessions', { team: 'B' })).toEqual([[2]]);
      expect(await ask(warehouse, 'sessions', { team: null })).toEqual([[5]]);
      expect(await ask(warehouse, 'sessions', { user: 'ann', by: ['week'] })).toEqual([
        ['2026-02-23', 3],
        ['2026-03-02', 2],
      ]);
      expect(await ask(warehouse, 'sessions', { team: 'B', by: ['month', 'user'] })).toEqual([
        ['2026-02', null, 0],
        ['2026-03', 'ann', 2],
      ]);
    });

    it('counts a new user once, on the first day ever, also before the period', async () => {
      const warehouse = await smallWorld(database);
      const byWeek = [
        ['2026-02-23', 2],
        ['2026-03-02', 1],
      ];
      expect(await ask(warehouse, 'new_users', { by: ['week'] })).toEqual(byWeek);
      expect(await ask(warehouse, 'new_users', { from: parseDay('2026-03-02') })).toEqual([[1]]);
      await warehouse.transact('spoil the marks of', function* () {
        yield sql`DELETE FROM rollup_marks`;
      });
      expect(await ask(warehouse, 'new_users', { by: ['week'] })).toEqual(byWeek);
    });

    it('counts seats on the last day of each bucket, used or not', async () => {
      const warehouse = await smallWorld(database);
      expect(await ask(warehouse, 'licensed_users', { by: ['month'] })).toEqual([
        ['2026-02', 2],
        ['2026-03', 3],
      ]);
      expect(await ask(warehouse, 'inactive_users', { by: ['month', 'team'] })).toEqual([
        ['2026-02', 'A', 1],
        ['2026-03', 'A', 1],
        ['2026-03', 'B', 0],
        ['2026-03', null, 0],
      ]);
      const none = await open(database);
      await storeUsers(none, '2026-02-26', [{ user_id: 'ann' }]);
      expect(await ask(none, 'licensed_users')).toEqual([[null]]);
      expect(await warningsOf(none, 'licensed_users')).toEqual([
        'no people are loaded, so licensed_users is not known; load them with daywalk people load',
      ]);
    });

    it('in money is NULL where a day with credits has no price, and never adds two currencies', async () => {
      const warehouse = await smallWorld(database);
      const price = { valid_to: null, price_per_million: 10, currency: 'EUR' };
      await storePrices(warehouse, [{ ...price, valid_from: '2026-02-01', valid_to: '2026-03-01' }]);
      const answer = await answerMetric(warehouse, questionOf('cost', { by: ['month', 'user'] }));
      expect(answer.rows.map(({ value }) => value)).toEqual([0.001, null, null, 0]);
      expect(answer.unit).toBe('EUR');
      expect(answer.warnings).toEqual([
        '1 day with credits has no price, so no cost that includes it is known; load prices with daywalk prices load',
      ]);
      expect(await warningsOf(warehouse, 'cost', { user: 'cat' })).toEqual([]);
      await storePrices(warehouse, [{ ...price, valid_from: '2026-03-02', currency: 'USD' }]);
      expect(await thrownBy(ask(warehouse, 'cost', { by: ['date'] }))).toMatchObject({
        exitCode: 2,
        message: 'cost cannot be added over currencies: its days have prices in EUR and USD',
      });
      expect(await ask(warehouse, 'cost', { from: parseDay('2026-03-01') })).toEqual([[0.003]]);
    });

    it('has what is published for one day as it is, and refuses to add it', async () => {
      const warehouse = await open(database);
      const rows = { activity_daily: [[4, 9, 20, 6, 7, 8, null]] };
      await commitDay(warehouse, commitOf({ stream: 'activity', day: '2026-02-26', rows }));
      expect(await ask(warehouse, 'published_wau', { by: ['date'], until: parseDay('2026-02-27') })).toEqual([
        ['2026-02-26', 9],
        ['2026-02-27', null],
      ]);
      expect(await ask(warehouse, 'published_wau', { until: FROM })).toEqual([[9]]);
      expect(await thrownBy(ask(warehouse, 'published_wau', { by: ['week'] }))).toMatchObject({
        reason: 'metric-not-additive',
        facts: { instead: 'active_users', grain: 'week' },
      });
    });

    it('reads the weeks of a rollup that are current, and the days of the others', async () => {
      const warehouse = await smallWorld(database);
      const weeks = { from: parseDay('2026-02-23'), until: parseDay('2026-03-08'), by: ['week'] as const };
      expect(await metricSql(warehouse, questionOf('sessions_per_active_user', weeks))).toContain(
        'FROM user_weekly',
      );
      await storeUsers(warehouse, '2026-02-26', [{ user_id: 'ann', sessions: 30 }]);
      expect(await metricSql(warehouse, questionOf('sessions_per_active_user', weeks))).toMatch(
        /FROM user_weekly r\s+WHERE .*\s+AND .*\s+AND r\.week_start NOT IN \((CAST\()?'2026-02-23'/,
      );
      const restated = [
        ['2026-02-23', 30],
        ['2026-03-02', 3.5],
      ];
      expect(await ask(warehouse, 'sessions_per_active_user', weeks)).toEqual(restated);
      await refresh(warehouse);
      expect(await metricSql(warehouse, questionOf('sessions_per_active_user', weeks))).not.toContain(
        'NOT IN',
      );
      expect(await ask(warehouse, 'sessions_per_active_user', weeks)).toEqual(restated);
    });

    it('reads sums and costs from the days of teams, those that are not current from the rows of users', async () => {
      const warehouse = await smallWorld(database);
      const period = { from: parseDay('2026-02-23'), until: parseDay('2026-03-08') };
      await storePrices(warehouse, [
        { valid_from: '2026-01-14', valid_to: null, currency: 'EUR', price_per_million: 1e6 },
      ]);
      const asked = [
        ['sessions', { ...period, by: ['team'] }],
        ['cost', { ...period, by: ['week', 'team'] }],
        ['cost_per_active_user', { ...period, by: ['week'] }],
        ['active_users', { ...period, by: ['date', 'team'] }],
      ] as const;
      const answers = async () => {
        const found = [];
        for (const [metric, own] of asked) found.push(await ask(warehouse, metric, own));
        return found;
      };
      const texts = async () => {
        const found = [];
        for (const [metric, own] of asked) found.push(await metricSql(warehouse, questionOf(metric, own)));
        return found;
      };
      await storeUsers(warehouse, '2026-02-26', [
        { user_id: 'ann', sessions: 30, billable_tokens: 4 },
        { user_id: 'bob', sessions: 1, billable_tokens: null },
      ]);
      const stale = await answers();
      expect(stale[2]).toEqual([
        ['2026-02-23', 2],
        ['2026-03-02', 150],
      ]);
      for (const text of await texts()) {
        expect(text).toMatch(TEAM_DAYS);
        expect(text).toMatch(USER_DAYS);
      }
      await storeUsers(warehouse, '2026-02-26', [
        { user_id: 'ann', sessions: 30, billable_tokens: 4 },
        { user_id: 'bob', sessions: 1, billable_tokens: null },
        { user_id: 'who', sessions: 9, billable_tokens: 2 },
      ]);
      const withNewUser = await answers();
      for (const text of await texts()) expect(text).toMatch(TEAM_DAYS);
      await refresh(warehouse);
      expect(await answers()).toEqual(withNewUser);
      await storeUsers(warehouse, '2026-02-26', [
        { user_id: 'ann', sessions: 30, billable_tokens: 4 },
        { user_id: 'bob', sessions: 1, billable_tokens: null },
      ]);
      // A user is gone, with the last row of its own.
      expect(await answers()).toEqual(stale);
      for (const [index, text] of (await texts()).entries())
        if (index !== 2) expect(text).not.toMatch(TEAM_DAYS);
      await refresh(warehouse);
      for (const text of await texts()) {
        expect(text).toMatch(TEAM_DAYS);
        expect(text).not.toMatch(USER_DAYS);
      }
      expect(await answers()).toEqual(stale);
      await warehouse.place.execute('DELETE FROM rollup_marks');
      expect(await answers()).toEqual(stale);
      await refresh(warehouse);
      // An address that is known now tells the team of earlier days.
      await storeUsers(warehouse, '2026-03-03', [{ user_id: 'bob', user_email: 'DAN', sessions: 0 }]);
      const withAddress = await answers();
      expect(withAddress[3]).toContainEqual(['2026-02-26', 'A', 2]);
      await refresh(warehouse);
      expect(await answers()).toEqual(withAddress);
    });

    it('has the teams of the people and days that are stored, also before the rollups are computed', async () => {
      const warehouse = await smallWorld(database);
      await warehouse.place.execute("UPDATE people SET team = 'C' WHERE team = 'B'");
      const byTeam = () => ask(warehouse, 'sessions', { by: ['team'] });
      expect(await byTeam()).toEqual([
        ['A', 3],
        ['C', 2],
        [null, 5],
      ]);
      expect(await ask(warehouse, 'inactive_users')).toEqual([[1]]);
      await storeUsers(warehouse, '2026-03-03', [{ user_id: 'eve', user_email: 'DAN', sessions: 7 }]);
      const now = [
        ['A', 10],
        ['C', 2],
        [null, 5],
      ];
      expect(await byTeam()).toEqual(now);
      expect(await ask(warehouse, 'sessions', { team: 'A' })).toEqual([[10]]);
      expect(await ask(warehouse, 'inactive_users')).toEqual([[0]]);
      expect(await warningsOf(warehouse, 'sessions', { by: ['team'] })).toEqual([]);
      for (const [metric, asked] of [
        ['sessions', { by: ['team'] }],
        ['inactive_users', { by: ['month'] }],
      ] as const) {
        const question = questionOf(metric, asked);
        const found = await warehouse.place.query(await metricSql(warehouse, question));
        expect(found).toEqual((await answerMetric(warehouse, question)).rows);
      }
      await refresh(warehouse);
      expect(await byTeam()).toEqual(now);
    });

    it('in money has the currency of the prices of a team that the table of teams does not know yet', async () => {
      const warehouse = await smallWorld(database);
      await storePrices(warehouse, [
        { valid_from: '2026-02-01', valid_to: '2026-02-28', currency: 'EUR', price_per_million: 1 },
        { valid_from: '2026-03-01', valid_to: null, currency: 'USD', price_per_million: 1 },
      ]);
      await warehouse.place.execute("UPDATE people SET team = 'C' WHERE team = 'B'");
      const { unit, rows } = await answerMetric(warehouse, questionOf('cost', { team: 'C' }));
      expect({ unit, rows }).toEqual({ unit: 'USD', rows: [{ value: 0.0003 }] });
    });

    it('comes from SQL that another program can run as it is', async () => {
      const warehouse = await smallWorld(database);
      const question = questionOf('active_users', { by: ['week', 'team'], team: "B'; --" });
      const { rows } = await answerMetric(warehouse, question);
      expect(await warehouse.place.query(await metricSql(warehouse, question))).toEqual(rows);
      const all = questionOf('cost', { by: ['month', 'user'] });
      expect(await warehouse.place.query(await metricSql(warehouse, all))).toEqual(
        (await answerMetric(warehouse, all)).rows,
      );
    });
  });
});
