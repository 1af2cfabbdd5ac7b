import { describe, expect, it } from 'vitest';
import { originalOf, rowCheck } from '../../../../src/checks/row-check.ts';
import {
  ActivityRow,
  ReadinessReport,
  TokensRow,
  ToolsRow,
  UserRow,
} from '../../../../src/contract/shapes.ts';

const checkTools = rowCheck(ToolsRow);
const checkTokens = rowCheck(TokensRow);
const checkActivity = rowCheck(ActivityRow);
const checkUsers = rowCheck(UserRow);
const checkReports = rowCheck(ReadinessReport);

const DATE = { date: '2026-02-01' };

/** The arguments of a check, as an answer with these rows would give them. */
function answer(rows: string): [unknown[], { path: string; text: string }] {
  return [JSON.parse(rows), { path: 'data', text: rows }];
}

describe('a bad element of a list', () => {
  it('is the only part that is left out, and is reported with its place and reason', () => {
    const [rows, options] = answer(
      '[{"date":"2026-02-01","tool_calls":9,"by_tool":[{"tool":"Read","invocations":1},{"invocations":2},{"tool":"Edit","invocations":"3"},7,{"tool":"Grep"}]}]',
    );
    const checked = checkTools(rows, options);
    expect(checked.rows).toEqual([
      { ...DATE, tool_calls: 9, by_tool: [{ tool: 'Read', invocations: 1 }, { tool: 'Grep' }] },
    ]);
    expect(checked.rejected).toEqual([
      {
        record: { invocations: 2 },
        path: 'data[0].by_tool[1]',
        kind: 'wrong-type',
        reason: 'tool must be a text',
      },
      {
        record: { tool: 'Edit', invocations: '3' },
        path: 'data[0].by_tool[2]',
        kind: 'wrong-type',
        reason: 'invocations must be a number within ±(2^53 − 1) or null',
      },
      { record: 7, path: 'data[0].by_tool[3]', kind: 'wrong-type', reason: 'must be an object' },
    ]);
  });

  it('is the only part that is left out, in every list and in nested lists', () => {
    const [rows, options] = answer(
      JSON.stringify([
        {
          ...DATE,
          by_model: [{ model_id: 'm' }, {}],
          by_user: [{ user_id: 'u', by_model: [{ model: 'm' }, { model: '' }] }, { user_id: '' }],
        },
      ]),
    );
    const { rows: kept, rejected } = checkTokens(rows, options);
    expect(kept).toEqual([
      { ...DATE, by_model: [{ model_id: 'm' }], by_user: [{ user_id: 'u', by_model: [{ model: 'm' }] }] },
    ]);
    expect(rejected.map(({ path }) => path)).toEqual([
      'data[0].by_model[1]',
      'data[0].by_user[0].by_model[1]',
      'data[0].by_user[1]',
    ]);
  });

  it('is the only part that is left out of a list of texts', () => {
    const [rows, options] = answer(
      '[{"date":"2026-02-01","user_id":"u","languages":["Go",null,"a\\u0000b",5,{}]}]',
    );
    const { rows: kept, rejected } = checkUsers(rows, options);
    expect(kept).toEqual([{ ...DATE, user_id: 'u', languages: ['Go'] }]);
    expect(rejected.map(({ path, reason }) => [path, reason])).toEqual([
      ['data[0].languages[1]', 'must be a text'],
      ['data[0].languages[2]', 'must be a text, in text that can be stored'],
      ['data[0].languages[3]', 'must be a text'],
      ['data[0].languages[4]', 'must be a text'],
    ]);
  });
});

describe('a bad entry of a map', () => {
  it('is the only part that is left out', () => {
    const [rows, options] = answer(
      '[{"date":"2026-02-01","daily_active_users_by_client":{"web":1,"cli":"2","__proto__":3,"x":1e400}}]',
    );
    const { rows: kept, rejected } = checkActivity(rows, options);
    expect(Object.entries(kept[0]?.daily_active_users_by_client ?? {})).toEqual([
      ['web', 1],
      ['__proto__', 3],
    ]);
    expect(rejected).toMatchObject([
      { record: { cli: '2' }, path: 'data[0].daily_active_users_by_client["cli"]' },
      { path: 'data[0].daily_active_users_by_client["x"]' },
    ]);
  });

  it('is the only part that is left out if its name cannot be stored', () => {
    const [rows, options] = answer(
      '[{"date":"2026-02-01","daily_active_users_by_client":{"a\\u0000":1,"web":2}}]',
    );
    const { rows: kept, rejected } = checkActivity(rows, options);
    expect(kept).toEqual([{ ...DATE, daily_active_users_by_client: { web: 2 } }]);
    expect(rejected).toMatchObject([
      { record: { 'a\u0000': 1 }, kind: 'not-storable', reason: 'its name cannot be stored' },
    ]);
  });

  it('does not save a row with an unknown field that cannot be stored, by its name or its value', () => {
    for (const field of ['"x\\u0000":1', '"x":["\\ud800"]']) {
      const [rows, options] = answer(`[{"date":"2026-02-01","tool_calls":1,${field}}]`);
      expect(checkTools(rows, options)).toEqual({
        rows: [],
        rejected: [
          {
            ...{ record: rows[0], path: 'data[0]', kind: 'not-storable' },
            reason: 'holds a text that cannot be stored',
          },
        ],
      });
    }
  });

  it('is the only part that is left out of a report', () => {
    const [rows, options] = answer(
      '[{"reportId":"r","createdAt":1,"repoUrl":"x","apps":{".":{"description":5}},"report":{"a":{"numerator":1},"b":{"numerator":"1"},"c":null}}]',
    );
    const { rows: kept, rejected } = checkReports(rows, options);
    expect(kept).toEqual([
      { reportId: 'r', createdAt: 1, repoUrl: 'x', apps: {}, report: { a: { numerator: 1 } } },
    ]);
    expect(rejected.map(({ path }) => path)).toEqual([
      'data[0].apps["."]',
      'data[0].report["b"]',
      'data[0].report["c"]',
    ]);
    expect(rejected[0]).toMatchObject({
      record: { description: 5 },
      reason: 'description must be a text or null',
    });
  });
});

describe('a list or map of a wrong type', () => {
  it.each([5, 'x', { a: 1 }, true])('rejects the whole row if it is %j', (bad) => {
    const [rows, options] = answer(JSON.stringify([{ ...DATE, by_tool: bad }, DATE]));
    expect(checkTools(rows, options)).toEqual({
      rows: [DATE],
      rejected: [
        {
          record: { ...DATE, by_tool: bad },
          path: 'data[0]',
          kind: 'wrong-type',
          reason: 'by_tool must be a list or null',
        },
      ],
    });
  });

  it('rejects the whole row if it is a list instead of a map', () => {
    const [rows, options] = answer(JSON.stringify([{ ...DATE, daily_active_users_by_client: [1] }]));
    expect(checkActivity(rows, options).rejected).toMatchObject([{ path: 'data[0]' }]);
  });
});

describe('a salvage', () => {
  it('does not change the answer, and remembers the source of each row', () => {
    const [rows, options] = answer('[{"date":"2026-02-01","by_tool":[{"tool":"Read"},{}],"new":1}]');
    const before = JSON.stringify(rows);
    const { rows: kept } = checkTools(rows, options);
    expect(JSON.stringify(rows)).toBe(before);
    const [row] = kept;
    if (row === undefined) throw new Error('the row is gone');
    expect(row).not.toBe(rows[0]);
    expect(originalOf(row)).toBe(rows[0]);
    expect(row.by_tool?.[0]).toBe(Reflect.get(rows[0] as object, 'by_tool')[0]);
    expect(row).toMatchObject({ new: 1 });
  });

  it('reports every row that it leaves out', () => {
    const broken = [
      '{}',
      'null',
      '[]',
      '{"date":""}',
      '{"date":"d","tool_calls":"1","by_tool":[{}]}',
      '{"date":"d\\u0000"}',
    ];
    for (const text of broken) {
      const [rows, options] = answer(`[${text}]`);
      const { rows: kept, rejected } = checkTools(rows, options);
      expect(kept, text).toEqual([]);
      expect(
        rejected.some(({ path }) => path === 'data[0]'),
        text,
      ).toBe(true);
    }
  });
});
