import { describe, expect, test } from 'vitest';
import { exactText } from '../../../../src/checks/exact.ts';
import { emailOf, Findings } from '../../../../src/pipeline/normalize/records.ts';
import { greatestOf, sumOf } from '../../../../src/pipeline/normalize/rows.ts';
import { normalize } from '../../../support/pipeline/normalize.ts';

const date = '2026-02-01';

describe('a sum', () => {
  test.each([
    [[], null],
    [[null, null], null],
    [[1, null, 2], 3],
    [[Number.MAX_SAFE_INTEGER - 1, 1], Number.MAX_SAFE_INTEGER],
    [[1e300], 1e300],
  ])('of %j is %j', (values, expected) => {
    expect(sumOf(values)).toBe(expected);
  });

  test('that cannot be kept exactly says that nothing of the unit was stored', () => {
    expect(() => sumOf([Number.MAX_SAFE_INTEGER, 1])).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('nothing of the unit was stored') }),
    );
  });
});

test.each([
  [['b', 'c', 'a'], 'c'],
  [['c', null, 'a'], 'c'],
  [[null, 'a', null], 'a'],
  [[null], null],
  [[], null],
])('the greatest of %j is %j', (values, expected) => {
  expect(greatestOf(values)).toBe(expected);
});

test('an address that is missing or dropped is stored as NULL', () => {
  expect([{}, { user_email: null }, { user_email: '[dropped]' }].map(emailOf)).toEqual([null, null, null]);
  expect(emailOf({ user_email: 'ada@example.com' })).toBe('ada@example.com');
});

describe('the rows of a day', () => {
  test('have its date in every breakdown', () => {
    const named = [{ name: 'a', count: 1 }];
    const tools = normalize('tools', [{ date, skills_by_name: named, slash_commands_by_name: named }]);
    const productivity = normalize('productivity', [
      { date, by_extension: [{ extension: 'ts', count: 1 }], by_language: [{ language: 'Go', count: 1 }] },
    ]);
    for (const { table, rows } of [...tools.tables, ...productivity.tables])
      for (const row of rows) expect([table.name, row[1]]).toEqual([table.name, date]);
    expect([...tools.tables, ...productivity.tables].filter(({ rows }) => rows.length > 0)).toHaveLength(6);
  });

  test('that come more than once are those that came last', () => {
    const days = [1, 3, 2].map((daily_active_users) => ({ date, daily_active_users }));
    expect(normalize('activity', days).rows('activity_daily')).toMatchObject([{ daily_active_users: 2 }]);
  });

  test('keep what nobody knows of an MCP server, the greatest of several', () => {
    const mcp_by_server = ['a', 'c', 'b'].map((more) => ({ server: 'GitHub', invocations: 1, more }));
    expect(normalize('tools', [{ date, mcp_by_server }]).rows('tools_daily_by_mcp_server')).toMatchObject([
      { server: 'github', invocations: 3, extra: '{"more":"c"}' },
    ]);
  });

  test('mark a tool whose name is longer than 128 characters as a fragment', () => {
    const by_tool = [128, 129].map((length) => ({ tool: 'x'.repeat(length), invocations: 1 }));
    expect(normalize('tools', [{ date, by_tool }]).rows('tools_daily_by_tool')).toMatchObject([
      { is_artifact: 0 },
      { is_artifact: 1 },
    ]);
  });
});

describe('what is wrong with an answer', () => {
  const body = { data: [{ a: 1 }, { b: 2 }] } as const;
  const exact = exactText({ text: JSON.stringify(body), body });
  const part = (index: 0 | 1, kind: 'foreign' | 'wrong-type' | 'not-storable') => ({
    ...{ record: body.data[index], path: `data[${index}]`, kind, reason: 'it is wrong' },
  });

  test('is set aside, unless it is about something else or holds a stored row', () => {
    const findings = new Findings();
    findings.reject(part(0, 'foreign'), exact);
    expect([findings.quarantined.length, findings.setAside]).toEqual([1, 0]);
    findings.reject(part(1, 'not-storable'), exact);
    expect([findings.quarantined.length, findings.setAside]).toEqual([2, 1]);
    expect(findings.drift).toEqual([]);
    const held = normalize('tools', [{ date, by_tool: [{ tool: 'Read', invocations: -5 }] }]).findings;
    expect([held.quarantined.length, held.setAside]).toEqual([1, 0]);
  });

  test('is drift if its type is wrong, with the text that was sent', () => {
    const findings = new Findings();
    findings.reject(part(1, 'wrong-type'), exact);
    expect(findings.drift).toEqual([{ path: 'data[]', kind: 'wrong type', sample: 'it is wrong: {"b":2}' }]);
    expect(findings.setAside).toBe(1);
  });

  test('is one place, whatever its index in a list', () => {
    const by_tool = Array.from({ length: 12 }, (_, index) => ({ tool: index < 11 ? 'a' : 7 }));
    expect(normalize('tools', [{ date, by_tool }]).findings.drift).toMatchObject([
      { path: 'data[].by_tool[]' },
    ]);
  });

  test('is said once', () => {
    const findings = new Findings();
    for (const text of ['a', 'b', 'a']) findings.warn(text);
    expect(findings.warnings).toEqual(['a', 'b']);
  });
});

describe('an impossible record', () => {
  test('is kept as it was sent if it has its key, of which an empty part need not be sent', () => {
    const hooks_by_event = [{ event: 'Stop', count: -1 }];
    expect(normalize('tools', [{ date, hooks_by_event }]).findings.quarantined).toMatchObject([
      { record: '{"event":"Stop","count":-1}' },
    ]);
  });

  test('is kept with the part of its key that stands around it', () => {
    const by_user = [{ user_id: 'u-1', by_model: [{ model_id: 'm', billable_tokens: -1 }] }];
    const { quarantined } = normalize('tokens', [{ date, by_user }]).findings;
    expect(quarantined.map(({ record }) => JSON.parse(record))).toContainEqual({
      ...{ date, user_id: 'u-1', model_id: 'm', record: { model_id: 'm', billable_tokens: -1 } },
    });
  });
});
