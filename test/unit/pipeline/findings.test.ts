import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject } from '../../../src/core/json.ts';
import { normalize } from '../../support/pipeline/normalize.ts';
import { rowOf } from '../../support/random/api-rows.ts';

const DATE = '"date":"2026-02-01"';

describe('a quarantined record', () => {
  it.each([
    ['a whole row', 'users', `[{${DATE},"user_id":""}]`, `{${DATE},"user_id":""}`, 'data[0]'],
    [
      'a row with its spaces',
      'users',
      `[{ ${DATE} , "user_id" : 5 }]`,
      `{ ${DATE} , "user_id" : 5 }`,
      'data[0]',
    ],
    [
      'a number out of reach',
      'users',
      `[{${DATE},"user_id":"u","hooks":1e400}]`,
      `{${DATE},"user_id":"u","hooks":1e400}`,
      'data[0]',
    ],
    [
      'an inexact integer',
      'users',
      `[{${DATE},"user_id":"u","hooks":9007199254740993}]`,
      `{${DATE},"user_id":"u","hooks":9007199254740993}`,
      'data[0]',
    ],
    [
      'an element',
      'tools',
      `[{${DATE},"by_tool":[{"tool":"a"},{"tool":7,"n":1.10}]}]`,
      '{"tool":7,"n":1.10}',
      'data[0].by_tool[1]',
    ],
    [
      'an entry of a map',
      'activity',
      `[{${DATE},"daily_active_users_by_client":{"web":1,"cli \\"x\\"":1e400}}]`,
      '{"cli \\"x\\"":1e400}',
      'data[0].daily_active_users_by_client["cli \\"x\\""]',
    ],
    [
      'an inexact entry of a map',
      'activity',
      `[{${DATE},"daily_active_users_by_client":{"web":9007199254740993}}]`,
      '{"web":9007199254740993}',
      'data[0].daily_active_users_by_client["web"]',
    ],
    [
      'an element that is not an object',
      'users',
      `[{${DATE},"user_id":"u","languages":["Go",12345678901234567890]}]`,
      '12345678901234567890',
      'data[0].languages[1]',
    ],
    ['a row that is not an object', 'tools', '[1e999]', '1e999', 'data[0]'],
    ['a row that is a list', 'tools', '[[1, 1e999]]', '[1, 1e999]', 'data[0]'],
    [
      'a text that cannot be stored',
      'tools',
      `[{${DATE},"by_tool":[{"tool":"a\\u0000"}]}]`,
      '{"tool":"a\\u0000"}',
      'data[0].by_tool[0]',
    ],
  ] as const)('keeps the text that the service sent: %s', (_, stream, data, record, path) => {
    const { findings } = normalize(stream, data);
    expect(findings.quarantined).toMatchObject([{ record, path }]);
    expect(findings.quarantined[0]?.recordSha256).toBe(createHash('sha256').update(record).digest('hex'));
    expect(findings.quarantined[0]?.reason).toMatch(/\S/);
  });

  it('is stored once, however often it was sent', () => {
    const { findings } = normalize('tools', `[{${DATE},"by_tool":[{"n":1},{"n":1},{"n":2}]}]`);
    expect(findings.quarantined.map(({ record }) => record)).toEqual(['{"n":1}', '{"n":2}']);
  });

  it('is reported as drift if it has a wrong type, by its place in the schema', () => {
    const { findings } = normalize(
      'tools',
      `[{${DATE},"by_tool":[{"tool":"a","invocations":"5"},{"tool":"b","invocations":[]},7]}]`,
    );
    expect(findings.drift).toMatchObject([{ path: 'data[].by_tool[]', kind: 'wrong type' }]);
    expect(findings.drift[0]?.sample).toContain('invocations must be a number');
  });

  it('is reported by the place in the map, not by the entry', () => {
    const { findings } = normalize('activity', `[{${DATE},"daily_active_users_by_client":{"a]\\"":"x"}}]`);
    expect(findings.drift).toMatchObject([{ path: 'data[].daily_active_users_by_client[*]' }]);
  });

  it('is never lost: each invalid part of an answer is kept or quarantined', () => {
    const bad = fc.constantFrom(null, 'x', {}, [], { tool: null }, { tool: 'a', invocations: 'b' });
    fc.assert(
      fc.property(rowOf.tools, fc.array(bad, { maxLength: 5 }), (row, others) => {
        const good = Array.isArray(row['by_tool']) ? row['by_tool'] : [];
        const { rows, findings } = normalize('tools', [{ ...row, by_tool: [...good, ...others] }]);
        const names = new Set(good.map((element) => (isObject(element) ? element['tool'] : '')));
        expect(rows('tools_daily_by_tool')).toHaveLength(names.size);
        const malformed = findings.quarantined.filter(({ isHeld }) => isHeld !== true);
        expect(malformed).toHaveLength(new Set(others.map((part) => JSON.stringify(part))).size);
      }),
    );
  });
});

describe('drift', () => {
  it('lists each place once, with the first value seen there', () => {
    const { findings } = normalize(
      'users',
      `[{${DATE},"user_id":"u","new":1},{${DATE},"user_id":"v","new":2,"tier":"x"}]`,
    );
    expect(findings.drift).toEqual([
      { path: 'data[].new', kind: 'unknown field', sample: '1' },
      { path: 'data[].tier', kind: 'unknown field', sample: '"x"' },
    ]);
  });

  it('reports unknown client types', () => {
    const { findings } = normalize(
      'activity',
      `[{${DATE},"daily_active_users_by_client":{"web":1,"ide":2}}]`,
    );
    expect(findings.drift).toEqual([
      { path: 'data[].daily_active_users_by_client', kind: 'new value', sample: 'ide' },
    ]);
  });

  it('reports unknown reasoning efforts of an evaluation', () => {
    const report = { reportId: 'r', createdAt: 1, repoUrl: 'https://x.org/r', apps: {}, report: {} };
    const { findings } = normalize('readiness', [{ ...report, modelUsed: { reasoningEffort: 'extreme' } }]);
    expect(findings.drift).toEqual([
      { path: 'reports[].modelUsed.reasoningEffort', kind: 'new value', sample: 'extreme' },
    ]);
  });

  it('keeps a sample of bounded length without broken characters', () => {
    const long = '\u{1F600}'.repeat(1000);
    const sample =
      normalize('users', [{ date: '2026-02-01', user_id: 'u', new: long }]).findings.drift[0]?.sample ?? '';
    expect(sample.length).toBeLessThanOrEqual(200);
    expect(sample.isWellFormed()).toBe(true);
  });

  it('is empty when the answer is as documented', () => {
    const { findings } = normalize(
      'tools',
      `[{${DATE},"tool_calls":1,"by_tool":[{"tool":"Read","invocations":1}]}]`,
    );
    expect([findings.drift, findings.quarantined, findings.warnings]).toEqual([[], [], []]);
  });
});
