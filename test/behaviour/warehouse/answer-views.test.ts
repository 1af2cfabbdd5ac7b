// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { type Database, onEachDatabase, open, type Place } from '../../support/warehouse/each-database.ts';
import { insertRows } from '../../support/warehouse/insert-rows.ts';

const org = { org_id: 'org_1' };
const STREAMS = ['tokens', 'tools', 'activity', 'productivity', 'users'];

/** A unit of the ledger. */
function unit(stream: string, date: string, isSettled = true) {
  return {
    ...org,
    stream,
    date,
    state: 'loaded',
    rows: 1,
    attempts: 1,
    requests: 1,
    settled_at: isSettled ? '2026-03-31T00:00:00.000Z' : null,
  };
}

const user = (user_id: string, first_active_on: string, last_active_on: string) => ({
  ...org,
  user_id,
  user_email: `${user_id}@example.com`,
  first_active_on,
  last_active_on,
  active_days: 2,
  active_days_30: 0,
});

const month = (user_id: string, name: string, tokens: number | null, thinking: number | null = null) => ({
  ...org,
  month: name,
  user_id,
  first_active_on: `${name}-20`,
  last_active_on: `${name}-21`,
  active_days: 2,
  billable_tokens: tokens,
  thinking_tokens: thinking,
});

const person = (name: string, valid_from: string, valid_to: string | null = null, team = 'blue') => ({
  ...org,
  person: name,
  valid_from,
  valid_to,
  team,
});

const team = (user_id: string, name: string, valid_from = '2026-01-01', valid_to = '9999-12-31') => ({
  ...org,
  user_id,
  valid_from,
  valid_to,
  person: name,
  team: 'blue',
});

async function empty(database: Database): Promise<Place> {
  return (await open(database)).place;
}

/**
 * January: u-1 and u-2. February: u-1 and u-3. Today is 2026-03-02. Ann is u-1 and u-4, Bob is u-2, Cy never was active;
 * Dan left in January. u-3 has no person.
 */
async function people(database: Database): Promise<Place> {
  const place = await empty(database);
  await insertRows(place, 'export_units', [
    ...STREAMS.map((stream) => unit(stream, '2026-01-20')),
    ...STREAMS.map((stream) => unit(stream, '2026-02-20', stream !== 'tools')),
    unit('users', '2026-03-02', false),
  ]);
  await insertRows(place, 'tokens_daily', [
    { ...org, date: '2026-01-20', billable_tokens: 10 },
    { ...org, date: '2026-02-20', billable_tokens: 30 },
  ]);
  await insertRows(place, 'activity_daily', [
    { ...org, date: '2026-01-20', sessions: 3, weekly_active_users: 2 },
    { ...org, date: '2026-02-20', sessions: 4, weekly_active_users: 2 },
  ]);
  await insertRows(place, 'users', [
    user('u-1', '2026-01-20', '2026-02-20'),
    user('u-2', '2026-01-20', '2026-01-21'),
    user('u-3', '2026-02-20', '2026-02-21'),
    user('u-4', '2026-01-15', '2026-01-15'),
    user('u-5', '2026-01-15', '2026-01-31'),
  ]);
  await insertRows(place, 'user_monthly', [
    month('u-1', '2026-01', 100, 25),
    month('u-1', '2026-02', 100, 25),
    month('u-2', '2026-01', 50),
    month('u-3', '2026-02', null),
    month('u-4', '2026-01', 0),
  ]);
  await insertRows(
    place,
    'user_weekly',
    ['u-1', 'u-2'].map((user_id) => ({
      ...org,
      week_start: '2026-01-19',
      user_id,
      first_active_on: '2026-01-20',
      last_active_on: '2026-01-21',
      active_days: 2,
    })),
  );
  await insertRows(place, 'org_monthly', [
    { ...org, month: '2026-01', active_users: 3, new_users: 4, user_days: 6 },
    { ...org, month: '2026-02', active_users: 2, new_users: 1, user_days: 4 },
  ]);
  await insertRows(place, 'people', [
    person('ann@example.com', '2026-01-01', '2026-01-31', 'red'),
    person('ann@example.com', '2026-02-01'),
    person('bob@example.com', '2026-01-01'),
    person('cy@example.com', '2026-02-15'),
    person('dan@example.com', '2026-01-01', '2026-01-25'),
  ]);
  await insertRows(place, 'user_teams', [
    team('u-1', 'ann@example.com', '2026-01-01', '2026-01-31'),
    team('u-1', 'ann@example.com', '2026-02-01'),
    team('u-4', 'ann@example.com'),
    team('u-2', 'bob@example.com'),
  ]);
  return place;
}

async function reports(database: Database): Promise<Place> {
  const place = await empty(database);
  const report = (report_id: string, created_at: string, repo_url: string) => ({
    ...org,
    report_id,
    created_at,
    repo_url,
  });
  const criterion = (report_id: string, criterion_id: string, numerator: number | null, denominator = 2) => ({
    ...org,
    report_id,
    criterion_id,
    numerator,
    denominator,
    rationale: `because of ${criterion_id}`,
  });
  await insertRows(place, 'readiness_reports', [
    report('r-1', '2026-02-01T00:00:00.000Z', 'repo a'),
    report('r-2', '2026-02-02T00:00:00.000Z', 'repo a'),
    report('r-3', '2026-02-03T00:00:00.000Z', 'repo a'),
    report('r-4', '2026-02-01T12:00:00.000Z', 'repo b'),
  ]);
  await insertRows(place, 'readiness_report_criteria', [
    criterion('r-1', 'formatter', 0),
    criterion('r-2', 'formatter', 1),
    criterion('r-2', 'readme', 2),
    criterion('r-3', 'formatter', 1),
    criterion('r-3', 'readme', 2),
    criterion('r-3', 'tests', 0),
    criterion('r-3', 'skipped', null),
    criterion('r-4', 'skipped', null),
  ]);
  return place;
}

onEachDatabase((database) => {
  describe('readiness_history', () => {
    it('has the score of every report and its change since the previous one of the repository', async () => {
      const rows = await (await reports(database)).query(
        'SELECT report_id, score, previous_score, score_change FROM readiness_history ORDER BY report_id',
      );
      expect(rows).toEqual([
        { report_id: 'r-1', score: 0, previous_score: null, score_change: null },
        { report_id: 'r-2', score: 0.75, previous_score: 0, score_change: 0.75 },
        { report_id: 'r-3', score: 0.5, previous_score: 0.75, score_change: -0.25 },
        { report_id: 'r-4', score: null, previous_score: null, score_change: null },
      ]);
    });
  });

  describe('failing_criteria', () => {
    it('has what the latest reports do not fully pass, and no skipped criterion', async () => {
      const rows = await (await reports(database)).query(
        'SELECT repo_url, criterion_id, numerator, denominator, rationale FROM failing_criteria ORDER BY criterion_id',
      );
      expect(rows).toEqual([
        {
          repo_url: 'repo a',
          criterion_id: 'formatter',
          numerator: 1,
          denominator: 2,
          rationale: 'because of formatter',
        },
        {
          repo_url: 'repo a',
          criterion_id: 'tests',
          numerator: 0,
          denominator: 2,
          rationale: 'because of tests',
        },
      ]);
    });
  });

  describe('thinking_share_by_user', () => {
    it('divides the sums of all months: 0 without thinking, NULL without credits', async () => {
      const rows = await (await people(database)).query(
        'SELECT user_id, user_email, billable_tokens, thinking_tokens, thinking_share FROM thinking_share_by_user ORDER BY user_id',
      );
      expect(
        rows.map(({ user_id, thinking_tokens, thinking_share }) => [
          user_id,
          thinking_tokens,
          thinking_share,
        ]),
      ).toEqual([
        ['u-1', 50, 0.25],
        ['u-2', 0, 0],
        ['u-3', null, null],
        ['u-4', 0, null],
      ]);
      expect(rows[0]).toMatchObject({ user_email: 'u-1@example.com', billable_tokens: 200 });
    });
  });

  describe('inactive_users', () => {
    const inactive = async () =>
      (await people(database)).query(
        'SELECT person, team, user_id, last_active_on, days_inactive, is_licensed FROM inactive_users ORDER BY person',
      );

    it('has licensed people of whom no user was active for 30 days, and other users likewise', async () => {
      expect(await inactive()).toEqual([
        {
          person: 'bob@example.com',
          team: 'blue',
          user_id: 'u-2',
          last_active_on: '2026-01-21',
          days_inactive: 40,
          is_licensed: 1,
        },
        {
          person: 'cy@example.com',
          team: 'blue',
          user_id: null,
          last_active_on: null,
          days_inactive: null,
          is_licensed: 1,
        },
        {
          person: 'u-5',
          team: null,
          user_id: 'u-5',
          last_active_on: '2026-01-31',
          days_inactive: 30,
          is_licensed: 0,
        },
      ]);
    });
  });

  describe('monthly_overview', () => {
    it('shows the way from licensed to active people, counted once per month', async () => {
      const rows = await (await people(database)).query(
        'SELECT month, licensed_users, inactive_users, active_users, new_users FROM monthly_overview ORDER BY month',
      );
      expect(rows).toEqual([
        { month: '2026-01', licensed_users: 2, inactive_users: 0, active_users: 3, new_users: 4 },
        { month: '2026-02', licensed_users: 3, inactive_users: 2, active_users: 2, new_users: 1 },
        { month: '2026-03', licensed_users: 3, inactive_users: 3, active_users: 0, new_users: 0 },
      ]);
    });

    it('does not know who is licensed while nobody loaded people', async () => {
      const place = await people(database);
      await place.execute('DELETE FROM people');
      const rows = await place.query('SELECT licensed_users, inactive_users FROM monthly_overview');
      expect(rows).toEqual(Array.from({ length: 3 }, () => ({ licensed_users: null, inactive_users: null })));
    });

    it('shows that a month is stored in part, and whether it may still change', async () => {
      const rows = await (await people(database)).query(
        'SELECT days_expected, days_held, is_settled, billable_tokens, sessions FROM monthly_overview ORDER BY month',
      );
      expect(rows).toEqual([
        { days_expected: 18, days_held: 1, is_settled: 0, billable_tokens: 10, sessions: 3 },
        { days_expected: 28, days_held: 1, is_settled: 0, billable_tokens: 30, sessions: 4 },
        { days_expected: 31, days_held: 0, is_settled: 0, billable_tokens: null, sessions: null },
      ]);
    });
  });

  describe('weekly_overview', () => {
    it('has one row per ISO week that was pulled', async () => {
      const rows = await (await people(database)).query(
        'SELECT week_start, active_users, new_users, sessions, days_expected, days_held FROM weekly_overview ORDER BY week_start',
      );
      expect(rows).toEqual([
        {
          week_start: '2026-01-19',
          active_users: 2,
          new_users: 2,
          sessions: 3,
          days_expected: 7,
          days_held: 1,
        },
        {
          week_start: '2026-02-16',
          active_users: 0,
          new_users: 1,
          sessions: 4,
          days_expected: 7,
          days_held: 1,
        },
        {
          week_start: '2026-03-02',
          active_users: 0,
          new_users: 0,
          sessions: null,
          days_expected: 7,
          days_held: 0,
        },
      ]);
    });

    it('is settled once every day of the week is, of which the first week has five', async () => {
      const place = await empty(database);
      const days = ['14', '15', '16', '17', '18'].map((day) => `2026-01-${day}`);
      await insertRows(
        place,
        'export_units',
        days.flatMap((day) => STREAMS.map((stream) => unit(stream, day))),
      );
      expect(
        await place.query('SELECT week_start, days_expected, days_held, is_settled FROM weekly_overview'),
      ).toEqual([{ week_start: '2026-01-12', days_expected: 5, days_held: 5, is_settled: 1 }]);
    });
  });

  describe('restated_days', () => {
    const change = (date: string, before: object, after: object, stream = 'tokens') => ({
      ...org,
      stream,
      date,
      detected_at: '2026-02-05T03:00:00.000Z',
      before: JSON.stringify(before),
      after: JSON.stringify(after),
    });

    it('has a row per changed sum, with the numbers before and after as columns', async () => {
      const place = await empty(database);
      await insertRows(place, 'restatements', [
        change(
          '2026-02-01',
          {
            billable_tokens: 10.5,
            input_tokens: 7,
            output_tokens: null,
            rows: 2,
            content_sha256: 'a',
            breakdowns: { tokens_daily_by_model: { rows: 1, billable_tokens: 10 } },
          },
          {
            billable_tokens: 12,
            input_tokens: 7,
            output_tokens: 3,
            rows: 3,
            content_sha256: 'b',
            breakdowns: { tokens_daily_by_model: { rows: 2, billable_tokens: 10 } },
          },
        ),
        change('', { rows: 1 }, { rows: 2 }, 'readiness'),
      ]);
      expect(
        await place.query(
          'SELECT date, table_name, column_name, value_before, value_after, change FROM restated_days ORDER BY table_name, column_name',
        ),
      ).toEqual([
        {
          date: '2026-02-01',
          table_name: '',
          column_name: 'rows',
          value_before: 2,
          value_after: 3,
          change: 1,
        },
        {
          date: '2026-02-01',
          table_name: 'tokens_daily',
          column_name: 'billable_tokens',
          value_before: 10.5,
          value_after: 12,
          change: 1.5,
        },
        {
          date: '2026-02-01',
          table_name: 'tokens_daily',
          column_name: 'output_tokens',
          value_before: null,
          value_after: 3,
          change: 3,
        },
        {
          date: '2026-02-01',
          table_name: 'tokens_daily_by_model',
          column_name: 'rows',
          value_before: 1,
          value_after: 2,
          change: 1,
        },
      ]);
    });

    it('still shows a restatement that changed no sum', async () => {
      const place = await empty(database);
      const sums = { rows: 1, billable_tokens: 1 };
      await insertRows(place, 'restatements', [
        change('2026-02-01', { ...sums, content_sha256: 'a' }, { ...sums, content_sha256: 'b' }, 'users'),
      ]);
      expect(await place.query('SELECT * FROM restated_days')).toMatchObject([
        {
          stream: 'users',
          date: '2026-02-01',
          table_name: '',
          column_name: '',
          value_before: null,
          change: null,
        },
      ]);
    });
  });
});
