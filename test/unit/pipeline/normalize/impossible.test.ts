import { describe, expect, test } from 'vitest';
import { tables } from '../../../../schema/tables.ts';
import { mergeStored } from '../../../../src/pipeline/held-rows.ts';
import { normalize } from '../../../support/pipeline/normalize.ts';

const date = '2026-02-01';

describe('an impossible value', () => {
  test('in one part of a sum holds the whole key', () => {
    const by_tool = [
      { tool: 'Read', invocations: -5 },
      { tool: 'Read', invocations: 9 },
      { tool: 'Edit', invocations: 1 },
    ];
    const { findings } = normalize('tools', [{ date, tool_calls: 10, by_tool }]);
    expect(findings.quarantined).toMatchObject([
      { path: 'data[0].by_tool[0]', reason: 'invocations is -5, which is less than 0' },
    ]);
    expect(findings.held).toMatchObject([{ table: { name: 'tools_daily_by_tool' } }]);
  });

  test('of one spelling of an MCP server holds the server', () => {
    const mcp_by_server = [
      { server: 'GitHub', invocations: -1 },
      { server: 'github', invocations: 4 },
    ];
    const { findings } = normalize('tools', [{ date, mcp_by_server }]);
    expect(findings.held.map(({ row }) => row[2])).toEqual(['github']);
  });

  test('of a client is compared with the day', () => {
    const daily_active_users_by_client = { web: 4, 'terminal-ui': 3 };
    const { findings } = normalize('activity', [
      { date, daily_active_users: 3, daily_active_users_by_client },
    ]);
    expect(findings.quarantined).toMatchObject([
      {
        path: 'data[].daily_active_users_by_client',
        reason: 'daily_active_users is 4, which is more than activity_daily.daily_active_users (3)',
        record: '{"web":4}',
      },
    ]);
  });

  test('of two criteria that look alike gives two records', () => {
    const bad = { numerator: 5, denominator: 2, rationale: '' };
    const report = {
      ...{ reportId: 'r-1', createdAt: 0, repoUrl: 'https://example.com/a', apps: {} },
      report: { lint: bad, readme: bad },
    };
    const { findings } = normalize('readiness', [report]);
    expect(new Set(findings.quarantined.map(({ record }) => record)).size).toBe(2);
    expect(findings.quarantined[0]?.record).toContain('"criterion_id":"lint"');
  });

  test('outside the usual range is stored, and reported as drift', () => {
    const row = { date, tool_autonomy_level_ratio: { auto_high: 55, auto_low: 0.2 } };
    const { findings, rows } = normalize('tools', [row]);
    expect(findings.quarantined).toEqual([]);
    expect(rows('tools_daily')).toMatchObject([{ autonomy_auto_high: 55 }]);
    expect(findings.drift).toMatchObject([{ path: 'data[].autonomy_auto_high', kind: 'new value' }]);
  });
});

describe('the stored rows of held keys', () => {
  const language = (user: string, name: string) => ['org_1', date, user, name, null];
  const table = tables.userDailyLanguages;
  const held = [{ table: tables.userDaily, row: ['org_1', date, 'b'] }];

  test('replace the answered ones in every table whose keys begin with them', async () => {
    const rows = [language('a', 'Go'), language('b', 'Rust'), language('c', 'C')];
    const stored = [language('a', 'Java'), language('b', 'Ada'), language('b', 'Zig')];
    const { merged } = await mergeStored({ table, rows }, held, async () => stored);
    expect(merged?.rows).toEqual([
      language('a', 'Go'),
      language('b', 'Ada'),
      language('b', 'Zig'),
      language('c', 'C'),
    ]);
  });

  test('are not read for other tables', async () => {
    const read = () => Promise.reject(new Error('was read'));
    const { merged } = await mergeStored({ table: tables.toolsDailyByTool, rows: [] }, held, read);
    expect(merged).toBeUndefined();
  });
});
