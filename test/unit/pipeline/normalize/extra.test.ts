import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject } from '../../../../src/core/json.ts';
import { DAILY_STREAMS } from '../../../../src/core/stream.ts';
import { normalize } from '../../../support/pipeline/normalize.ts';
import { rowOf } from '../../../support/random/api-rows.ts';

const MAIN = {
  tokens: 'tokens_daily',
  tools: 'tools_daily',
  activity: 'activity_daily',
  productivity: 'productivity_daily',
  users: 'user_daily',
} as const;

/** The fields that no version knows, see the arbitraries. */
function unknownFieldsOf(value: unknown): Record<string, unknown> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter(([name]) => name.startsWith('new ')));
}

describe('unknown fields', () => {
  it.each(DAILY_STREAMS)('of a row of %s are all kept in extra, as sent', (stream) => {
    fc.assert(
      fc.property(rowOf[stream], (row) => {
        const unknown = unknownFieldsOf(row);
        const levels = unknownFieldsOf(row['tool_autonomy_level_ratio']);
        const expected =
          Object.keys(levels).length > 0 ? { ...unknown, tool_autonomy_level_ratio: levels } : unknown;
        const [stored] = normalize(stream, [row]).rows(MAIN[stream]);
        const extra: unknown = stored?.['extra'];
        if (Object.keys(expected).length === 0) expect(extra).toBeNull();
        else expect(JSON.parse(String(extra))).toEqual(expected);
      }),
    );
  });

  it('of an element of a breakdown are kept beside it', () => {
    const row = { date: '2026-02-01', by_tool: [{ tool: 'Read', errors: 1 }, { tool: 'Edit' }] };
    const { rows, findings } = normalize('tools', [row]);
    expect(rows('tools_daily_by_tool').map(({ tool, extra }) => [tool, extra])).toEqual([
      ['Edit', null],
      ['Read', '{"errors":1}'],
    ]);
    expect(findings.drift).toEqual([{ path: 'data[].by_tool[].errors', kind: 'unknown field', sample: '1' }]);
  });

  it('keep the digits of numbers that a double cannot hold', () => {
    const row =
      '[{"date":"2026-02-01","id":12345678901234567890,"far":1e400,"list":[1,9007199254740993],"fine":9007199254740991}]';
    expect(normalize('activity', row).rows('activity_daily')[0]?.['extra']).toBe(
      '{"far":1e400,"fine":9007199254740991,"id":12345678901234567890,"list":[1,9007199254740993]}',
    );
  });

  it('keep them also in a row with a quarantined part', () => {
    const row =
      '[{"date":"2026-02-01","id":12345678901234567890,"by_tool":[{},{"tool":"Read","trace":1e400}]}]';
    const { rows } = normalize('tools', row);
    expect(rows('tools_daily')[0]?.['extra']).toBe('{"id":12345678901234567890}');
    expect(rows('tools_daily_by_tool')[0]?.['extra']).toBe('{"trace":1e400}');
  });

  it('have the same text in any order', () => {
    const of = (row: string) => normalize('activity', `[${row}]`).rows('activity_daily')[0]?.['extra'];
    expect(of('{"date":"2026-02-01","b":{"y":1,"x":2},"a":[2,1],"10":1,"9":1}')).toBe(
      of('{"9":1,"10":1,"a":[2,1],"b":{"x":2,"y":1},"date":"2026-02-01"}'),
    );
  });

  it('may have special names such as __proto__', () => {
    const row = '[{"date":"2026-02-01","__proto__":{"a":1},"constructor":2,"a\\"b\\n":3}]';
    expect(normalize('activity', row).rows('activity_daily')[0]?.['extra']).toBe(
      '{"__proto__":{"a":1},"a\\"b\\n":3,"constructor":2}',
    );
  });
});
