import { describe, expect, it } from 'vitest';
import { connectAssistant, metricJson } from '../../support/assistants/client.ts';
import { createReportRig } from '../../support/audience/report-rig.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const NOW = '2026-02-24T03:00:00Z';

/** Questions that get no number, with what the refusal must say, and what it must advise. */
const REFUSED: readonly (readonly [
  trap: string,
  given: Readonly<Record<string, unknown>>,
  why: RegExp,
  instead: RegExp,
])[] = [
  [
    'the mean of autonomy over days',
    { metric: 'published_autonomy_ratio_avg' },
    /cannot be added over days/,
    /tool_calls_per_user_message/,
  ],
  [
    'the month, as published',
    { metric: 'published_mau', from: '2026-02-01' },
    /cannot be added/,
    /active_users/,
  ],
  [
    'a month that has not begun',
    { metric: 'cost', from: '2026-12-01' },
    /no data yet/,
    /up to yesterday, 2026-02-23/,
  ],
  ['today', { metric: 'sessions', until: '2026-02-24' }, /2026-02-24/, /2026-02-23/],
  [
    'a month by its filter',
    { metric: 'sessions', filter: { month: '2026-12' } },
    /no data yet/,
    /2026-02-23/,
  ],
  ['a month by its name', { metric: 'sessions', from: 'December' }, /not a calendar day/, /YYYY-MM-DD/],
  ['a name with a slip', { metric: 'active_usrs' }, /no metric of this name/, /active_users: Distinct users/],
  ['a name of another kind', { metric: 'spending money' }, /no metric of this name/, /list_metrics|cost/],
  [
    'SQL in a name',
    { metric: "cost'; DROP TABLE people; --" },
    /no metric of this name/,
    /list_metrics|cost/,
  ],
  ['SQL in a dimension', { metric: 'cost', by: ['team; DROP TABLE people'] }, /no dimension/, /it has date/],
  ['SQL in a user', { metric: 'cost', user: "x' OR '1'='1" }, /no row has this value of user/, /ask by user/],
  [
    'a dimension that it lacks',
    { metric: 'active_users', by: ['model'] },
    /no dimension model/,
    /model is a dimension of/,
  ],
  ['two grains', { metric: 'sessions', by: ['date', 'week'] }, /at once/, /choose one/],
  ['four dimensions', { metric: 'sessions', by: ['date', 'team', 'user', 'week'] }, /by is not/, /maxItems/],
  ['a team that is not there', { metric: 'sessions', team: 'cores' }, /no team of this name/, /names below/],
  [
    'a model that is not there',
    { metric: 'input_tokens', filter: { model: 'nova' } },
    /no row has this value of model/,
    /ask by model/,
  ],
  [
    'weeks against weeks',
    { metric: 'sessions', by: ['week'], compare: 'previous' },
    /cannot be compared by week/,
    /both spans/,
  ],
  [
    'a period that is reversed',
    { metric: 'sessions', from: '2026-02-10', until: '2026-02-01' },
    /reversed/,
    /not after/,
  ],
  [
    'an argument of another tool',
    { metric: 'sessions', sql: 'SELECT 1' },
    /no argument of this name/,
    /it takes metric/,
  ],
  [
    'a comparison with days to come',
    { metric: 'sessions', compare: '2026-02-01..2026-12-31' },
    /no data yet/,
    /up to yesterday/,
  ],
  ['a comparison in words', { metric: 'sessions', compare: 'last year' }, /no span/, /previous, calendar/],
];

describe('twenty traps', () => {
  it('are refused, with what to ask instead', { tags: 'ci/rare' }, async () => {
    const rig = await createReportRig(sqlite);
    const { call, calls, failures } = await connectAssistant(rig.place, { now: NOW });
    for (const [trap, given, why, instead] of REFUSED) {
      const { isRefused, words, text } = await call('query_metric', given);
      expect([trap, isRefused, words]).toEqual([
        trap,
        true,
        expect.stringMatching(/^Refused: [^\n]+[.!?] Instead: [^\n]+[.!?]$/),
      ]);
      const [, first = '', second = ''] = /^Refused: (.*) Instead: (.*)$/s.exec(text) ?? [];
      expect([trap, first]).toEqual([trap, expect.stringMatching(why)]);
      expect([trap, second]).toEqual([trap, expect.stringMatching(instead)]);
    }
    expect(failures).toEqual([]);
    expect(calls.map(({ outcome }) => outcome)).toEqual(REFUSED.map(() => 'refused'));
  });

  it('of tools and of words are refused, too', { tags: 'ci/rare' }, async () => {
    const rig = await createReportRig(sqlite);
    const { client, call, calls } = await connectAssistant(rig.place, { now: NOW });
    await expect(client.callTool({ name: 'query_sql', arguments: { sql: 'SELECT 1' } })).rejects.toThrow(
      /Refused: there is no tool of this name\. Instead: call one of list_metrics, query_metric, coverage, explain\./,
    );
    await expect(client.callTool({ name: 'query_metrics', arguments: {} })).rejects.toThrow(
      /Instead: call query_metric\./,
    );
    expect((await call('list_metrics', { search: 'weather' })).words).toMatch(
      /^Refused: .* Instead: call list_metrics/,
    );
    expect(calls.map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['unknown', 'refused'],
      ['unknown', 'refused'],
      ['list_metrics', 'refused'],
    ]);
  });

  it('that are numbers say first what is wrong with them', { tags: 'ci/rare' }, async () => {
    const rig = await createReportRig(sqlite);
    const { call } = await connectAssistant(rig.place, { now: NOW });
    const yesterday = await call('query_metric', {
      metric: 'sessions',
      from: '2026-02-23',
      until: '2026-02-23',
    });
    expect(yesterday.words).toMatch(/^PRELIMINARY: 1 of 1 days are open \(not settled: 2026-02-23\)\./);
    expect(yesterday.data).toMatchObject({ final: false });

    const settled = await call('query_metric', { metric: 'sessions', settled_only: true });
    expect(settled.words).toMatch(/^sessions, 2026-01-14 to 2026-02-21: total /);
    expect(settled.data).toMatchObject({ final: true, until: '2026-02-21' });
    expect(settled.words).toMatch(/Note: settled_only ends the period on 2026-02-21, because 2026-02-22 can/);

    const weeks = await call('query_metric', { metric: 'active_users', by: ['week'] });
    const sum = rowsOf(weeks.data).reduce((total, { value }) => total + Number(value), 0);
    expect(weeks.data['total']).toBeLessThan(sum);
    expect(weeks.data['total_note']).toMatch(/not the sum of rows/);
    expect(rowsOf(weeks.data).map(({ week, partial }) => [week, partial])).toEqual([
      ['2026-01-12', '5 of 7 days'],
      ...['2026-01-19', '2026-01-26', '2026-02-02', '2026-02-09', '2026-02-16'].map((week) => [
        week,
        undefined,
      ]),
      ['2026-02-23', '1 of 7 days'],
    ]);

    const month = await call('query_metric', {
      metric: 'billable_tokens',
      by: ['month'],
      from: '2026-02-01',
    });
    expect(rowsOf(month.data)).toEqual([
      { month: '2026-02', value: expect.any(Number), partial: '23 of 28 days' },
    ]);

    const published = await call('query_metric', { metric: 'published_dau', by: ['date'] });
    expect(published.data['total']).toBeNull();
    expect(published.words).toMatch(/no total, because published_dau cannot be added over days/);

    const cost = await call('query_metric', { metric: 'cost' });
    expect(cost.data).toMatchObject({ total: null, total_note: expect.stringMatching(/have no price/) });
  });

  it('of a warehouse that is late say which days are not there, and of a comparison the change in percent', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createReportRig(sqlite);
    const { call } = await connectAssistant(rig.place, { now: '2026-02-27T03:00:00Z' });
    const settled = { metric: 'sessions', from: '2026-02-16' };
    const late = await call('query_metric', settled);
    expect(late.words).toMatch(
      /^PRELIMINARY: 2 of 8 days are open \([^)]*\); the period ends early, because nothing is stored of 2026-02-24 to 2026-02-26\./,
    );
    expect(late.data).toMatchObject({ final: false, until: '2026-02-23' });
    const [said] = late.words.split('\n');
    expect((await call('explain', settled)).words.split('\n')[0]).toBe(said);
    expect((await call('explain', { metric: 'cost' })).words).toMatch(
      /^Note: \d+ days with credits have no price/m,
    );
    const asked = await call('query_metric', { ...settled, until: '2026-02-20', compare: 'previous' });
    expect(asked.words).toMatch(/^sessions, 2026-02-16 to 2026-02-20: total \d+ sessions,/);
    const { total, change } = Object(asked.data['previous']);
    expect(asked.words).toContain(
      `Before, 2026-02-09 to 2026-02-13: ${total}. The change is ${Number((change * 100).toPrecision(3))} %.`,
    );
  });

  it('of length are cut at 200 rows, and say what is left out', { tags: 'ci/rare' }, async () => {
    const rig = await createReportRig(sqlite);
    const { call } = await connectAssistant(rig.place, { now: NOW });
    const { data, words } = await call('query_metric', { metric: 'sessions', by: ['date', 'user'] });
    const { rows } = await metricJson(rig.place, NOW, ['sessions', '--by', 'date,user']);
    const all = Array.isArray(rows) ? rows : [];
    expect(all.length).toBeGreaterThan(200);
    expect(data['rows']).toEqual(all.slice(0, 200));
    expect(data['rows_omitted']).toBe(all.length - 200);
    expect(words).toMatch(/ask with top for the largest/);
  });
});

function rowsOf(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  return Array.isArray(data['rows']) ? data['rows'] : [];
}
