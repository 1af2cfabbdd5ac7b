// @module-tag database-specific

import { describe, expect, it } from 'vitest';
import { allTables } from '../../../schema/tables.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const SUMS =
  'billable_tokens, tool_calls, sessions, messages, user_messages, assistant_messages, files_created, files_edited, git_commits, git_prs_created, mcp_calls, skill_calls, slash_commands, hooks, thinking_tokens';
const USER_DAYS = 'user_email, first_active_on, last_active_on, active_days';
const CREDITS = 'billable_tokens, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens';

/**
 * The tables as dashboards and acceptance checks know them. Each line is a table, its key and its other columns;
 * daily tables have org_id and date in front of theirs.
 */
const DAILY = `
tokens_daily | | ${CREDITS}, extra
tokens_daily_by_model | model_id | model_tier, ${CREDITS}, extra
tokens_daily_by_user | user_id | user_email, ${CREDITS}, extra
tokens_daily_by_user_model | user_id, model_id | model_tier, ${CREDITS}, extra
tools_daily | | tool_calls, mcp_users_with_mcp, skills_invocations, slash_commands_invocations, hooks_invocations, web_users, autonomy_ratio_avg, autonomy_ratio_p50, autonomy_ratio_p90, tool_calls_per_session_avg, user_turns_per_session_avg, autonomy_auto_high, autonomy_auto_medium, autonomy_auto_low, autonomy_manual, extra
tools_daily_by_tool | tool | invocations, is_artifact, extra
tools_daily_by_mcp_server | server | invocations, spellings, extra
tools_daily_by_skill | name | count, extra
tools_daily_by_slash_command | name | count, extra
tools_daily_by_hook | event, matcher, command | count, extra
activity_daily | | daily_active_users, weekly_active_users, monthly_active_users, sessions, messages, user_messages, extra
activity_daily_by_client | client | daily_active_users, extra
productivity_daily | | files_created, files_edited, git_commits, git_prs_created, extra
productivity_daily_by_extension | extension | count, extra
productivity_daily_by_language | language | count, extra
user_daily | user_id | user_email, tool_calls, billable_tokens, primary_model, primary_model_tier, files_created, files_edited, git_commits, git_prs_created, mcp_calls, skill_calls, slash_commands, hooks, sessions, messages, user_messages, assistant_messages, autonomy_ratio, delegation_level, extra
user_daily_languages | user_id, language | extra`;

const OTHERS = `
readiness_reports | org_id, report_id | created_at, repo_url, commit_hash, branch, has_local_changes, has_non_remote_commits, model_id, model_reasoning_effort, droid_version, extra
readiness_report_apps | org_id, report_id, app_path | description, extra
readiness_report_criteria | org_id, report_id, criterion_id | numerator, denominator, rationale, extra
sessions | org_id, session_id | title, status, message_count, created_at, updated_at, completed_at, computer_id, session_settings, extra
hook_events | org_id, event_id | received_at, hook_event_name, session_id, cwd, message, reason, payload
export_units | org_id, stream, date | state, rows, content_sha256, attempts, requests, first_loaded_at, last_pulled_at, changed_at, settled_at, cursor, last_error, answers_sha256, doubted_at, doubt, confirmed, run_id, active_users, watch
export_runs | run_id | org_id, command, started_at, ended_at, exit_code, units_done, units_failed, rows_written, requests, retries, versions, responses, completed
restatements | org_id, stream, date, detected_at | before, after
quarantine | org_id, stream, date, record_sha256 | reason, path, record, first_seen_at, accepted_at
schema_drift | org_id, stream, path | kind, sample, first_seen_on
export_state | org_id, name | value
organizations | name | org_id, first_seen_at
erased | org_id, kind, subject_hmac | pseudonym, erased_at, certificate
identity | name | warehouse_id, parents, made_at, made_by
acts | act_id | kind, done_at
archives | archive_id | place, marks, lost, first_met_at, last_met_at, ended_at
people | org_id, person, valid_from | valid_to, name, team, department, cost_center, manager_email
prices | org_id, valid_from | valid_to, currency, price_per_million
budgets | org_id, month, team | amount, currency
events | org_id, date, team, text | closed
published_weeks | org_id, week_start, dimension, block, metric | people, value
contracts | org_id | first_day, streams, max_age_seconds, changed_at
dates | date | iso_year, iso_week, week_start, month, quarter, weekday, is_weekend
users | org_id, user_id | ${USER_DAYS}, billable_tokens, tool_calls, sessions, messages, user_messages, files_created, files_edited, git_commits, git_prs_created, team, active_days_30
user_weekly | org_id, week_start, user_id | ${USER_DAYS}, ${SUMS}
user_monthly | org_id, month, user_id | ${USER_DAYS}, ${SUMS}
user_monthly_languages | org_id, month, user_id, language | first_active_on, last_active_on, active_days
org_monthly | org_id, month | active_users, new_users, user_days, ${SUMS}
team_daily | org_id, date, team | active_users, ${SUMS}
team_model_daily | org_id, date, team, model_id | active_users, model_tier, ${CREDITS}
user_teams | org_id, user_id, valid_from | valid_to, person, team, department, cost_center
user_emails | org_id, month, user_id, user_email | last_seen_on
rollup_marks | org_id, rollup, date | content_sha256`;

interface Expected {
  readonly name: string;
  readonly key: string[];
  readonly columns: string[];
}

function expectedTables(): Expected[] {
  const parse = (text: string, scope: string[]) =>
    text
      .trim()
      .split('\n')
      .map((line) => {
        const [name = '', key = '', columns = ''] = line.split('|').map((part) => part.trim());
        return { name, key: [...scope, ...names(key)], columns: names(columns) };
      });
  return [...parse(DAILY, ['org_id', 'date']), ...parse(OTHERS, [])];
}

function names(list: string): string[] {
  return list === '' ? [] : list.split(', ');
}

const EXPECTED = expectedTables();

onEachDatabase((database) => {
  describe('the warehouse', () => {
    it('has exactly these tables and views', async () => {
      const relations = await (await open(database)).place.relations();
      const namesOf = (isView: boolean) =>
        relations.filter((relation) => relation.isView === isView).map(({ name }) => name);
      expect(namesOf(false).toSorted()).toEqual(
        [...EXPECTED.map(({ name }) => name), '__drizzle_migrations'].toSorted(),
      );
      expect(namesOf(true).toSorted()).toEqual([
        'budget_outlook',
        'cohorts_monthly',
        'cost_daily',
        'cost_monthly_by_team',
        'coverage',
        'daily_overview',
        'failing_criteria',
        'inactive_users',
        'model_mix',
        'month_forecast',
        'monthly_overview',
        'readiness_history',
        'readiness_latest',
        'restated_days',
        'thinking_share_by_user',
        'today_so_far',
        'usage_by_user_model',
        'weekly_overview',
      ]);
    });

    it('has these columns in each table, and this key in order', async () => {
      const relations = await (await open(database)).place.relations();
      for (const { name, key, columns } of EXPECTED) {
        const relation = relations.find((each) => each.name === name);
        expect(
          relation?.columns.map((column) => column.name),
          name,
        ).toEqual([...key, ...columns]);
        expect(relation?.key, name).toEqual(key);
      }
    });

    it('has the expected type for each column, and NOT NULL only for keys and fields that are always present', async () => {
      const relations = await (await open(database)).place.relations();
      for (const { name, columns } of allTables) {
        const relation = relations.find((each) => each.name === name);
        expect(
          relation?.columns.map((column) => [column.name, column.type + (column.isRequired ? '!' : '')]),
          name,
        ).toEqual(
          Object.entries(columns).map(([column, { kind }]) => [column, TYPES[database.name]?.[kind]]),
        );
      }
    });
  });
});

/** The types of columns; `!` where they are required. Texts that identify are sorted by their bytes everywhere. */
const TYPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SQLite: {
    key: 'text!',
    day: 'text!',
    date: 'text',
    amount: 'real!',
    text: 'text!',
    label: 'text',
    metric: 'real',
    integer: 'integer',
    count: 'integer!',
    flag: 'integer',
    yesNo: 'integer!',
    instant: 'text!',
    moment: 'text',
    json: 'text',
    record: 'text!',
  },
  PostgreSQL: {
    key: 'text COLLATE "C"!',
    day: 'date!',
    date: 'date',
    amount: 'double precision!',
    text: 'text!',
    label: 'text',
    metric: 'double precision',
    integer: 'bigint',
    count: 'bigint!',
    flag: 'boolean',
    yesNo: 'boolean!',
    instant: 'timestamp with time zone!',
    moment: 'timestamp with time zone',
    json: 'jsonb',
    record: 'json!',
  },
};

describe('the declarations', () => {
  it('match these tables, with the same column order', () => {
    const declared = allTables.map(({ name, key, columns }) => ({
      name,
      key: [...key],
      columns: Object.keys(columns).filter((column) => !key.includes(column)),
    }));
    const byName = (list: Expected[]) => list.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(byName(declared)).toEqual(byName(EXPECTED));
  });

  it('describe every table and column', () => {
    for (const { doc, columns } of allTables) {
      for (const text of [doc, ...Object.values(columns).map((column) => column.doc)])
        expect(text).toMatch(/\S{2,}/);
    }
  });

  it('name the stream that fills a daily table', () => {
    const streams = Object.fromEntries(
      allTables.filter(({ role }) => role === 'fact').map((t) => [t.name, t.stream]),
    );
    for (const [name, stream] of Object.entries(streams)) {
      expect(name.startsWith('user_') ? 'users' : name.split('_')[0]).toBe(stream);
    }
  });
});
