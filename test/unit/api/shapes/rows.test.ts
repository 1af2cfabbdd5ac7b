import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RowCheck, rowCheck } from '../../../../src/checks/row-check.ts';
import {
  ActivityByClientRow,
  ActivityRow,
  ProductivityRow,
  ReadinessReport,
  TokensByModelRow,
  TokensRow,
  ToolsByToolRow,
  ToolsRow,
  UserRow,
} from '../../../../src/contract/shapes.ts';
import { MODEL_KEYS, report, rowOf } from '../../../support/random/api-rows.ts';

const CHECKS: Readonly<Record<string, RowCheck<unknown>>> = {
  tokens: rowCheck(TokensRow),
  tools: rowCheck(ToolsRow),
  activity: rowCheck(ActivityRow),
  productivity: rowCheck(ProductivityRow),
  users: rowCheck(UserRow),
  reports: rowCheck(ReadinessReport),
  tokensByModel: rowCheck(TokensByModelRow),
  toolsByTool: rowCheck(ToolsByToolRow),
  activityByClient: rowCheck(ActivityByClientRow),
};

function check(kind: string, rows: readonly unknown[], text = JSON.stringify(rows)) {
  const rowCheckOfKind = CHECKS[kind];
  if (rowCheckOfKind === undefined) throw new Error(`no check for ${kind}`);
  return rowCheckOfKind(rows, { path: 'data', text });
}

/** The rows of the specification, every field there. */
const DOCUMENTED: Readonly<Record<string, object>> = {
  tokens: {
    date: '2026-02-01',
    billable_tokens: 12.5,
    input_tokens: 100,
    output_tokens: 20,
    cache_read_tokens: 5,
    cache_write_tokens: 6,
    by_model: [
      {
        model_id: 'm-1',
        model_tier: 'standard',
        billable_tokens: 12.5,
        input_tokens: 100,
        output_tokens: 20,
      },
    ],
    by_user: [
      {
        user_id: 'user_01',
        user_email: 'a@example.com',
        billable_tokens: 12.5,
        by_model: [{ model_id: 'm-1', billable_tokens: 12.5 }],
      },
    ],
  },
  tools: {
    date: '2026-02-01',
    tool_calls: 10,
    by_tool: [{ tool: 'Read', invocations: 10 }],
    mcp_users_with_mcp: 1,
    mcp_by_server: [{ server: 'GitHub', invocations: 3 }],
    skills_invocations: 1,
    skills_by_name: [{ name: 's', count: 1 }],
    slash_commands_invocations: 1,
    slash_commands_by_name: [{ name: '/c', count: 1 }],
    hooks_invocations: 1,
    hooks_by_event: [{ event: 'PostToolUse', matcher: 'Edit', command: 'x.sh', count: 1 }],
    web_users: 2,
    autonomy_ratio_avg: 1.5,
    autonomy_ratio_p50: 1,
    autonomy_ratio_p90: 3,
    tool_calls_per_session_avg: 2,
    user_turns_per_session_avg: 4,
    tool_autonomy_level_ratio: { auto_high: 0.25, auto_medium: 0.25, auto_low: 0.25, manual: 0.25 },
  },
  activity: {
    date: '2026-02-01',
    daily_active_users: 3,
    weekly_active_users: 5,
    monthly_active_users: 9,
    daily_active_users_by_client: { 'terminal-ui': 2, web: 1, 'non-interactive-cli': 1 },
    sessions: 4,
    messages: 20,
    user_messages: 8,
  },
  productivity: {
    date: '2026-02-01',
    files_created: 1,
    files_edited: 2,
    by_extension: [{ extension: 'ts', count: 3 }],
    by_language: [{ language: 'TypeScript', count: 3 }],
    git_commits: 4,
    git_prs_created: 5,
  },
  users: {
    user_id: 'user_01',
    user_email: null,
    date: '2026-02-01',
    tool_calls: 1,
    billable_tokens: 2,
    primary_model: 'm-1',
    primary_model_tier: 'thinking',
    files_created: 0,
    files_edited: 0,
    git_commits: 0,
    git_prs_created: 0,
    mcp_calls: 0,
    skill_calls: 0,
    slash_commands: 0,
    hooks: 0,
    sessions: 1,
    messages: 2,
    user_messages: 1,
    assistant_messages: 1,
    autonomy_ratio: 1,
    delegation_level: 'auto-high',
    languages: ['TypeScript'],
  },
  reports: {
    reportId: '6f1f6a0e-0000-4000-8000-000000000001',
    createdAt: 1_770_000_000_000,
    repoUrl: 'https://example.com/r.git',
    apps: { '.': { description: 'the app' } },
    report: {
      readme: { numerator: 1, denominator: 1, rationale: 'there' },
      skipped: { numerator: null, denominator: 1, rationale: 'n/a' },
    },
    commitHash: 'abc',
    branch: 'main',
    hasLocalChanges: false,
    hasNonRemoteCommits: true,
    modelUsed: { id: 'm-1', reasoningEffort: 'low' },
    droidVersion: '1.2.3',
  },
  tokensByModel: {
    date: '2026-02-01',
    group_key: 'm-1',
    billable_tokens: 1,
    input_tokens: 2,
    output_tokens: 3,
  },
  toolsByTool: { date: '2026-02-01', group_key: 'Read', tool_calls: 4 },
  activityByClient: { date: '2026-02-01', group_key: 'web', daily_active_users: 4 },
};

/** What must be there, by kind; everything else may be missing. */
const IDENTITY: Readonly<Record<string, readonly string[]>> = {
  tokens: ['date'],
  tools: ['date'],
  activity: ['date'],
  productivity: ['date'],
  users: ['date', 'user_id'],
  reports: ['reportId', 'createdAt', 'repoUrl', 'apps', 'report'],
  tokensByModel: ['date', 'group_key'],
  toolsByTool: ['date', 'group_key'],
  activityByClient: ['date', 'group_key'],
};

const KINDS = Object.keys(DOCUMENTED);

describe.each(KINDS)('a row of %s', (kind) => {
  const row = DOCUMENTED[kind] ?? {};
  const identity = IDENTITY[kind] ?? [];
  const without = (name: string) => Object.fromEntries(Object.entries(row).filter(([key]) => key !== name));

  it('is accepted as documented, as the same object', () => {
    const { rows, rejected } = check(kind, [row]);
    expect(rejected).toEqual([]);
    expect(rows[0]).toBe(row);
  });

  it('is accepted with only its identity, and with all other fields null', () => {
    const bare = Object.fromEntries(identity.map((name) => [name, Reflect.get(row, name)]));
    const nulls = Object.fromEntries(Object.keys(row).map((name) => [name, bare[name] ?? null]));
    const { rows, rejected } = check(kind, [bare, nulls]);
    expect(rejected).toEqual([]);
    expect(rows).toEqual([bare, nulls]);
  });

  it('keeps unknown fields', () => {
    const richer = { ...row, new_metric: 5, 'nested thing': { a: [1, null, 'x'] } };
    const { rows, rejected } = check(kind, [richer]);
    expect(rejected).toEqual([]);
    expect(rows[0]).toBe(richer);
  });

  it.each(identity)('is rejected without its %s', (name) => {
    const wrong = name === 'createdAt' ? '7.5' : 7.5;
    for (const bad of [without(name), { ...row, [name]: null }, { ...row, [name]: wrong }]) {
      const { rows, rejected } = check(kind, [row, bad]);
      expect(rows).toEqual([row]);
      expect(rejected).toMatchObject([{ record: bad, path: 'data[1]' }]);
      expect(rejected[0]?.reason).toMatch(/must be /);
    }
  });

  it.each([
    ['a text', 'x'],
    ['a number', 1],
    ['null', null],
    ['true', true],
    ['a list', []],
    ['a row in a list', [row]],
  ])('is not %s', (_, bad) => {
    const { rows, rejected } = check(kind, [bad, row]);
    expect(rows).toEqual([row]);
    expect(rejected).toMatchObject([{ record: bad, path: 'data[0]' }]);
  });

  it.each([
    ['a text', '"5"'],
    ['a list', '[5]'],
    ['an object', '{"n":5}'],
    ['true', 'true'],
    ['beyond every number', '1e400'],
    ['beyond every exact integer', '9007199254740993'],
    ['at the first inexact integer', '-9007199254740992'],
  ])('is rejected when any number is %s', (_, text) => {
    const numbers = Object.entries(row).filter(
      ([, value]) => typeof value === 'number' && kind !== 'reports',
    );
    for (const [name] of numbers) {
      const bad = { ...row, [name]: JSON.parse(text) };
      const { rows, rejected } = check(kind, [bad]);
      expect(rows, name).toEqual([]);
      expect(rejected, name).toMatchObject([
        { record: bad, path: 'data[0]', kind: 'wrong-type', reason: expect.stringContaining(name) },
      ]);
    }
  });

  it('is rejected when a text of its own cannot be stored', () => {
    for (const bad of ['a\0b', '\uD800']) {
      for (const [name, value] of Object.entries(row)) {
        if (typeof value !== 'string') continue;
        const text = JSON.stringify([{ ...row, [name]: bad }]);
        const { rows, rejected } = check(kind, JSON.parse(text), text);
        expect(rows, name).toEqual([]);
        expect(rejected, name).toHaveLength(1);
      }
      const text = JSON.stringify([{ ...row, alien: { deep: [bad] } }]);
      expect(check(kind, JSON.parse(text), text)).toMatchObject({
        rows: [],
        rejected: [{ path: 'data[0]' }],
      });
    }
  });
});

describe('a model in a breakdown', () => {
  it.each(MODEL_KEYS)('may be called %s', (key) => {
    const row = { date: '2026-02-01', by_model: [{ [key]: 'm-1', billable_tokens: 1 }] };
    expect(check('tokens', [row])).toEqual({ rows: [row], rejected: [] });
    expect(check('tokensByModel', [{ date: '2026-02-01', [key]: 'm-1' }]).rejected).toEqual([]);
  });

  it.each([
    [{}, 'must be an object with its identity'],
    [{ model_id: '' }, 'must be an object with its identity'],
    [{ model_id: null }, 'must be an object with its identity'],
    [{ name: 'm-1' }, 'must be an object with its identity'],
    [{ model_id: 5 }, 'model_id must be a text or null'],
    [{ model_id: 5, model: 'm-1' }, 'model_id must be a text or null'],
    [{ model: 'm-1', input_tokens: '5' }, 'input_tokens must be a number within ±(2^53 − 1) or null'],
  ])('is rejected only as %j', (bad, reason) => {
    const good = { model: 'm-2', billable_tokens: 2 };
    const row = { date: '2026-02-01', by_model: [good, bad] };
    const { rows, rejected } = check('tokens', [row]);
    expect(rows).toEqual([{ date: '2026-02-01', by_model: [good] }]);
    expect(rejected).toEqual([{ record: bad, kind: 'wrong-type', path: 'data[0].by_model[1]', reason }]);
  });
});

describe('any valid row', () => {
  it.each(Object.entries(rowOf))('of %s is passed on as the same object, unchanged', (kind, arbitrary) => {
    fc.assert(
      fc.property(fc.array(arbitrary, { maxLength: 4 }), (list) => {
        const text = JSON.stringify(list);
        const { rows, rejected } = check(kind, list, text);
        expect(rejected).toEqual([]);
        expect(rows).toHaveLength(list.length);
        expect(rows.every((row, index) => row === list[index])).toBe(true);
        expect(JSON.stringify(list)).toBe(text);
      }),
    );
  });

  it('of the readiness reports too', () => {
    fc.assert(
      fc.property(report, (record) => {
        expect(check('reports', [record])).toEqual({ rows: [record], rejected: [] });
      }),
    );
  });
});
