import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalize } from '../../../support/pipeline/normalize.ts';
import { rowOf, TOOLS_METRICS } from '../../../support/random/api-rows.ts';

const LEVELS = ['auto_high', 'auto_medium', 'auto_low', 'manual'];

/** Column to the value that the answer has for it. */
function expectColumns(stored: object, row: object, columns: readonly string[]): void {
  for (const column of columns)
    expect(Reflect.get(stored, column), column).toBe(Reflect.get(row, column) ?? null);
}

describe('the row of a day', () => {
  it.each([
    [
      'tokens',
      'tokens_daily',
      ['billable_tokens', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'],
    ],
    ['tools', 'tools_daily', TOOLS_METRICS],
    [
      'activity',
      'activity_daily',
      [
        'daily_active_users',
        'weekly_active_users',
        'monthly_active_users',
        'sessions',
        'messages',
        'user_messages',
      ],
    ],
    [
      'productivity',
      'productivity_daily',
      ['files_created', 'files_edited', 'git_commits', 'git_prs_created'],
    ],
  ] as const)('of %s has every number as sent, NULL if it is missing', (stream, table, columns) => {
    fc.assert(
      fc.property(rowOf[stream], (row) => {
        const [stored, ...others] = normalize(stream, [row]).rows(table);
        expect(others).toEqual([]);
        expectColumns(stored ?? {}, row, columns);
        expect(stored?.['date']).toBe('2026-02-01');
      }),
    );
  });

  it('of tools holds the shares by autonomy level', () => {
    fc.assert(
      fc.property(rowOf.tools, (row) => {
        const [stored = {}] = normalize('tools', [row]).rows('tools_daily');
        const levels = row['tool_autonomy_level_ratio'] ?? {};
        for (const level of LEVELS) {
          expect(Reflect.get(stored, `autonomy_${level}`)).toBe(Reflect.get(levels, level) ?? null);
        }
      }),
    );
  });

  it('distinguishes zero from NULL', () => {
    const row = { date: '2026-02-01', sessions: 0, messages: null };
    expect(normalize('activity', [row]).rows('activity_daily')[0]).toMatchObject({
      sessions: 0,
      messages: null,
      user_messages: null,
      extra: null,
    });
  });

  it('is stored once when it was sent twice, in its last version', () => {
    const rows = [
      { date: '2026-02-01', sessions: 1 },
      { date: '2026-02-01', sessions: 2 },
    ];
    expect(normalize('activity', rows).rows('activity_daily')).toMatchObject([{ sessions: 2 }]);
  });
});

describe('a breakdown', () => {
  it('that is null or missing has no rows', () => {
    const rows = [{ date: '2026-02-01', by_model: null }];
    expect(normalize('tokens', rows).rows('tokens_daily_by_model')).toEqual([]);
    expect(normalize('tokens', rows).rows('tokens_daily_by_user')).toEqual([]);
    expect(
      normalize('activity', [{ date: '2026-02-01', daily_active_users_by_client: null }]).rows(
        'activity_daily_by_client',
      ),
    ).toEqual([]);
  });

  it('by hook has empty texts for an absent matcher and command, and sums equal keys', () => {
    const row = {
      date: '2026-02-01',
      hooks_by_event: [
        { event: 'Stop', count: 1 },
        { event: 'Stop', matcher: null, command: '', count: 2 },
        { event: 'Stop', matcher: 'Edit', count: 4 },
        { event: 'Stop', command: 'x.sh', count: null },
      ],
    };
    expect(normalize('tools', [row]).rows('tools_daily_by_hook')).toEqual([
      { date: '2026-02-01', event: 'Stop', matcher: '', command: '', count: 3, extra: null },
      { date: '2026-02-01', event: 'Stop', matcher: '', command: 'x.sh', count: null, extra: null },
      { date: '2026-02-01', event: 'Stop', matcher: 'Edit', command: '', count: 4, extra: null },
    ]);
  });

  it('by model finds the model under any of its field names, and keeps the other fields', () => {
    const row = {
      date: '2026-02-01',
      by_model: [
        { model_id: 'a', billable_tokens: 1 },
        { model: 'b', billable_tokens: 2 },
        { model_name: 'c', billable_tokens: 3 },
        { group_key: 'd', billable_tokens: 4 },
        { model_id: '', model: 'e', billable_tokens: 5 },
        { model: 'f', model_name: 'F', model_tier: 'thinking' },
      ],
    };
    const stored = normalize('tokens', [row]).rows('tokens_daily_by_model');
    expect(stored.map(({ model_id, billable_tokens }) => [model_id, billable_tokens])).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['d', 4],
      ['e', 5],
      ['f', null],
    ]);
    expect(stored.map(({ extra }) => extra)).toEqual([
      null,
      null,
      null,
      null,
      '{"model_id":""}',
      '{"model_name":"F"}',
    ]);
    expect(stored[5]).toMatchObject({ model_tier: 'thinking' });
  });

  it('by user finds the user under any of its field names, and keeps the other fields', () => {
    const row = {
      date: '2026-02-01',
      by_user: [
        { user_id: 'a', billable_tokens: 1, id: 17 },
        { user: 'b', billable_tokens: 2, by_model: [{ model: 'm', billable_tokens: 2 }] },
        { id: 'c', billable_tokens: 3 },
        { group_key: 'd', billable_tokens: 4 },
        { user_id: '', user: { name: 'E' }, id: 'e', billable_tokens: 5 },
        { user: 7, billable_tokens: 6 },
      ],
    };
    const { rows, findings } = normalize('tokens', [row]);
    const stored = rows('tokens_daily_by_user');
    expect(stored.map(({ user_id, billable_tokens }) => [user_id, billable_tokens])).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['d', 4],
      ['e', 5],
    ]);
    expect(stored.map(({ extra }) => extra)).toEqual([
      '{"id":17}',
      null,
      null,
      null,
      '{"user":{"name":"E"},"user_id":""}',
    ]);
    expect(rows('tokens_daily_by_user_model')).toMatchObject([{ user_id: 'b', model_id: 'm' }]);
    expect(findings.quarantined).toMatchObject([{ record: '{"user":7,"billable_tokens":6}' }]);
  });

  it('by user has the models of each user in a separate table', () => {
    const row = {
      date: '2026-02-01',
      by_user: [
        {
          user_id: 'u-1',
          user_email: 'a@example.com',
          billable_tokens: 3,
          by_model: [{ model: 'm', billable_tokens: 3 }],
        },
        {
          user_id: 'u-1',
          user_email: null,
          billable_tokens: 4,
          by_model: [{ model: 'm', billable_tokens: 4 }],
        },
        { user_id: 'u-2' },
      ],
    };
    const { rows } = normalize('tokens', [row]);
    expect(rows('tokens_daily_by_user')).toMatchObject([
      { user_id: 'u-1', user_email: 'a@example.com', billable_tokens: 7 },
      { user_id: 'u-2', user_email: null, billable_tokens: null },
    ]);
    expect(rows('tokens_daily_by_user_model')).toMatchObject([
      { user_id: 'u-1', model_id: 'm', billable_tokens: 7 },
    ]);
  });
});

describe('MCP servers', () => {
  it('that differ by case become one server, with each spelling and its invocations', () => {
    const servers = [
      { server: 'GitHub', invocations: 3 },
      { server: 'github', invocations: 4 },
      { server: 'GITHUB', invocations: null },
      { server: 'github', invocations: 1 },
      { server: 'Linear' },
    ];
    const { rows } = normalize('tools', [{ date: '2026-02-01', mcp_by_server: servers }]);
    expect(rows('tools_daily_by_mcp_server')).toMatchObject([
      { server: 'github', invocations: 8, spellings: '{"GITHUB":null,"GitHub":3,"github":5}' },
      { server: 'linear', invocations: null, spellings: '{"Linear":null}' },
    ]);
  });

  it('keep every spelling, and the spellings sum to the server', () => {
    fc.assert(
      fc.property(rowOf.tools, (row) => {
        const servers = (row['mcp_by_server'] ?? []) as { server: string; invocations?: number | null }[];
        const stored = normalize('tools', [row]).rows('tools_daily_by_mcp_server');
        const spellings = stored.flatMap((one) => Object.entries(JSON.parse(String(one['spellings']))));
        expect(new Set(spellings.map(([spelling]) => spelling))).toEqual(
          new Set(servers.map(({ server }) => server)),
        );
        for (const one of stored) {
          const members: [string, unknown][] = Object.entries(JSON.parse(String(one['spellings'])));
          expect(members.every(([spelling]) => spelling.toLowerCase() === one['server'])).toBe(true);
          const numbers = members.flatMap(([, value]) => (typeof value === 'number' ? [value] : []));
          const total = numbers.reduce((sum, value) => sum + value, 0);
          expect(Math.abs(Number(one['invocations'] ?? 0) - total)).toBeLessThan(1e-6 * Math.max(1, total));
        }
      }),
    );
  });
});

describe('a tool name', () => {
  it.each([
    'Read',
    'Edit',
    'TodoWrite',
    'mcp__github__create_issue',
    'github___search-code',
    'web.search',
    'namespace:tool',
    'tool/sub',
    'ToolÄ',
    '__proto__',
  ])('%s is a tool', (tool) => {
    expect(stored(tool)).toMatchObject([{ tool, invocations: 2, is_artifact: 0 }]);
  });

  it.each([
    '',
    'Read\n',
    'Read file',
    '<invoke>',
    'Edit</name>',
    '{"tool":"Read"}',
    'Read(',
    '"Read"',
    "Read'",
    'a=b',
    'a;b',
    'Read,Edit',
    '`Read`',
    'x'.repeat(129),
  ])('%j is flagged as a parsing artifact, and kept', (tool) => {
    expect(stored(tool)).toMatchObject([{ tool, invocations: 2, is_artifact: 1 }]);
  });

  function stored(tool: string) {
    return normalize('tools', [{ date: '2026-02-01', by_tool: [{ tool, invocations: 2 }] }]).rows(
      'tools_daily_by_tool',
    );
  }
});
