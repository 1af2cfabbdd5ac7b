import { describe, expect, it } from 'vitest';
import { DIMENSIONS, dimensionsOf } from '../../../schema/metrics/define.ts';
import { allMetrics, askableMetrics } from '../../../schema/metrics/dictionary.ts';
import { parseDimension } from '../../../src/cli/actions/metric.ts';
import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import { type DatedQuestion, metricQuery } from '../../../src/metrics/answer-metric.ts';
import { findMetric } from '../../../src/metrics/question.ts';

/** The names that dashboards depend on, and the dimensions that each has besides date, week and month. */
const FIXED: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    [
      ...['billable_tokens', 'sessions', 'messages', 'user_messages', 'assistant_messages', 'tool_calls'],
      ...['mcp_calls', 'skill_calls', 'slash_commands', 'hooks', 'files_created', 'files_edited'],
      ...['git_commits', 'git_prs_created', 'active_users', 'new_users', 'sessions_per_active_user'],
      ...['tokens_per_commit', 'tokens_per_pr', 'tool_calls_per_user_message', 'thinking_share', 'cost'],
      'cost_per_active_user',
    ].map((name) => [name, ['user', 'team', 'delegation_level']]),
  ),
  licensed_users: ['team'],
  inactive_users: ['team'],
  published_billable_tokens: ['model', 'tier'],
  input_tokens: ['model', 'tier'],
  output_tokens: ['model', 'tier'],
  cache_read_tokens: ['model', 'tier'],
  cache_write_tokens: ['model', 'tier'],
  cache_share: [],
  published_dau: [],
  published_wau: [],
  published_mau: [],
  published_sessions: [],
  published_messages: [],
  tool_invocations: ['tool'],
  mcp_invocations: ['server'],
  skill_invocations: ['skill'],
  readiness_score: ['repository'],
};

function ask(question: Partial<DatedQuestion> & { metric: string }): () => unknown {
  return () =>
    metricQuery('sqlite', {
      orgId: 'org_1',
      by: [],
      from: FIRST_DAY,
      until: parseDay('2026-02-10'),
      ...question,
    });
}

describe('the dictionary', () => {
  it('has the metrics and dimensions whose names are fixed', () => {
    const found = Object.fromEntries(
      Object.keys(FIXED).map((name) => [name, dimensionsOf(findMetric(name)).slice(3)]),
    );
    expect(found).toEqual(
      Object.fromEntries(
        Object.entries(FIXED).map(([name, own]) => [name, DIMENSIONS.filter((known) => own.includes(known))]),
      ),
    );
  });

  it('names each metric once and describes it', () => {
    const names = askableMetrics.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(
      askableMetrics.filter(({ doc, title, unit }) => !doc.endsWith('.') || title === '' || unit === ''),
    ).toEqual([]);
  });

  it('offers a metric that adds up in place of each that does not', () => {
    const snapshots = allMetrics.flatMap(({ measure }) => (measure.kind === 'snapshot' ? [measure] : []));
    expect(snapshots.length).toBeGreaterThan(3);
    for (const { instead } of snapshots) expect(findMetric(instead).measure.kind).not.toBe('snapshot');
  });
});

describe('a question that has no answer is refused', () => {
  it.each<[string, () => unknown, RegExp, RegExp]>([
    [
      'an unknown metric',
      () => findMetric('activ_users'),
      /no metric "activ_users"/,
      /did you mean active_users/,
    ],
    ['a metric like no other', () => findMetric('x'), /no metric "x"/, /daywalk metric lists the names/],
    [
      'an unknown dimension',
      () => parseDimension('teams'),
      /"teams" is not a dimension/,
      /did you mean team\?/,
    ],
    [
      'a dimension of other metrics',
      ask({ metric: 'billable_tokens', by: ['model'] }),
      /billable_tokens has no dimension model/,
      /it has date, .*published_billable_tokens/,
    ],
    [
      'a dimension that only the breakdown could have',
      ask({ metric: 'cache_share', by: ['model'] }),
      /cache_share has no dimension model/,
      /it has date, week, month;/,
    ],
    [
      'two ways to cut the period',
      ask({ metric: 'sessions', by: ['week', 'month'] }),
      /cut by week and month/,
      /one of date, week, month/,
    ],
    [
      'a dimension given twice',
      ask({ metric: 'sessions', by: ['team', 'team'] }),
      /team is given twice/,
      /once/,
    ],
    [
      'a filter that the source lacks',
      ask({ metric: 'published_sessions', team: 'a' }),
      /cannot be filtered by team/,
      /team is a dimension of active_users/,
    ],
    [
      'a user among people',
      ask({ metric: 'licensed_users', user: 'u' }),
      /cannot be filtered by user/,
      /user is a dimension/,
    ],
    [
      'published users over weeks',
      ask({ metric: 'published_wau', by: ['week'] }),
      /^published_wau cannot be added over weeks$/,
      /active_users/,
    ],
    [
      'published users over a period',
      ask({ metric: 'published_mau' }),
      /^published_mau cannot be added over days$/,
      /active_users/,
    ],
    [
      'published users over clients',
      ask({ metric: 'published_client_dau', by: ['date'] }),
      /cannot be added over values of client/,
      /client/,
    ],
  ])('%s', (_, question, message, hint) => {
    expect(question).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      }),
    );
  });

  it('but published users of one day are answered, however the day is named', () => {
    const one = { from: FIRST_DAY, until: FIRST_DAY };
    expect(ask({ metric: 'published_wau', by: ['week'], ...one })).not.toThrow();
    expect(ask({ metric: 'published_wau', by: ['date'] })).not.toThrow();
  });
});
