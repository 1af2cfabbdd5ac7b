import { describe, expect, it } from 'vitest';
import { connectAssistant, metricJson } from '../../support/assistants/client.ts';
import { createReportRig } from '../../support/audience/report-rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const NOW = '2026-02-24T03:00:00Z';
const FEBRUARY = ['--from', '2026-02-01', '--until', '2026-02-22'];
const february = { from: '2026-02-01', until: '2026-02-22' };

/** Twenty questions as people ask them, as a call, and as a command line. */
const QUESTIONS: readonly (readonly [
  question: string,
  given: Readonly<Record<string, unknown>>,
  args: readonly string[],
])[] = [
  ['how many people used it', { metric: 'active_users' }, ['active_users']],
  [
    'the users of the quarter, and of its weeks',
    { metric: 'active_users', by: ['week'] },
    ['active_users', '--by', 'week'],
  ],
  ['users by month', { metric: 'active_users', by: ['month'] }, ['active_users', '--by', 'month']],
  [
    'credits in February so far',
    { metric: 'billable_tokens', ...february },
    ['billable_tokens', ...FEBRUARY],
  ],
  [
    'credits by team',
    { metric: 'billable_tokens', by: ['team'], ...february },
    ['billable_tokens', '--by', 'team', ...FEBRUARY],
  ],
  [
    'the five people with most credits',
    { metric: 'billable_tokens', by: ['user'], top: 5 },
    ['billable_tokens', '--by', 'user', '--top', '5'],
  ],
  [
    'the two largest models',
    { metric: 'published_billable_tokens', by: ['model'], top: 2 },
    ['published_billable_tokens', '--by', 'model', '--top', '2'],
  ],
  [
    'credits of the team core by week',
    { metric: 'billable_tokens', by: ['week'], team: 'core' },
    ['billable_tokens', '--by', 'week', '--team', 'core'],
  ],
  [
    'people without a team',
    { metric: 'active_users', team: 'unassigned' },
    ['active_users', '--team', 'unassigned'],
  ],
  [
    'February against January',
    { metric: 'sessions', ...february, compare: 'previous' },
    ['sessions', ...FEBRUARY, '--compare'],
  ],
  [
    'the same days of the month before, by team',
    { metric: 'sessions', by: ['team'], ...february, compare: 'calendar' },
    ['sessions', '--by', 'team', ...FEBRUARY, '--compare', 'calendar'],
  ],
  [
    'against a span',
    { metric: 'messages', ...february, compare: '2026-01-15..2026-01-31' },
    ['messages', ...FEBRUARY, '--compare', '2026-01-15..2026-01-31'],
  ],
  [
    'sessions per person by team',
    { metric: 'sessions_per_active_user', by: ['team'] },
    ['sessions_per_active_user', '--by', 'team'],
  ],
  ['the share of thinking models', { metric: 'thinking_share' }, ['thinking_share']],
  ['the share of the cache by day', { metric: 'cache_share', by: ['date'] }, ['cache_share', '--by', 'date']],
  ['who is new, by week', { metric: 'new_users', by: ['week'] }, ['new_users', '--by', 'week']],
  ['seats that nobody uses', { metric: 'inactive_users', ...february }, ['inactive_users', ...FEBRUARY]],
  [
    'daily users as published on a day',
    { metric: 'published_dau', by: ['date'], from: '2026-02-10', until: '2026-02-12' },
    ['published_dau', '--by', 'date', '--from', '2026-02-10', '--until', '2026-02-12'],
  ],
  [
    'the most used tools',
    { metric: 'tool_invocations', by: ['tool'], top: 3 },
    ['tool_invocations', '--by', 'tool', '--top', '3'],
  ],
  ['how ready the repositories are', { metric: 'readiness_score' }, ['readiness_score']],
];

onEachDatabase((database) => {
  describe('twenty questions', () => {
    it('get the numbers of daywalk metric --json, and a total by the rule of the metric', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createReportRig(database);
      const { call, calls, failures } = await connectAssistant(rig.place, { now: NOW });
      for (const [question, given, args] of QUESTIONS) {
        const { data, words, isRefused } = await call('query_metric', given);
        expect([question, isRefused, words]).toEqual([question, false, expect.any(String)]);
        const answer = await metricJson(rig.place, NOW, args);
        for (const name of ['metric', 'unit', 'from', 'until', 'days', 'run_id'])
          expect([question, name, data[name]]).toEqual([question, name, answer[name]]);
        expect([question, rowsOf(data)]).toEqual([question, answer['rows']]);
        expect([question, data['others']]).toEqual([question, answer['others'] ?? null]);
        expect([question, data['total']]).toEqual([question, await totalOf(rig.place, args)]);
      }
      expect(failures).toEqual([]);
      expect(calls.map(({ outcome }) => outcome)).toEqual(QUESTIONS.map(() => 'answered'));
    });
  });
});

/** The rows without what only assistants are told. */
function rowsOf(data: Readonly<Record<string, unknown>>): unknown[] {
  const rows = Array.isArray(data['rows']) ? data['rows'] : [];
  return rows.map(({ partial: _, ...row }) => row);
}

/** The total is the same question without dimensions; what may not be added has none. */
async function totalOf(place: Parameters<typeof metricJson>[0], args: readonly string[]): Promise<unknown> {
  if (args[0] === 'published_dau') return null;
  const by = args.indexOf('--by');
  const top = args.indexOf('--top');
  const rest = args.filter(
    (_, index) => (by < 0 || (index !== by && index !== by + 1)) && (top < 0 || index < top),
  );
  const { rows } = await metricJson(place, NOW, rest);
  return Array.isArray(rows) ? rows[0]?.value : undefined;
}
