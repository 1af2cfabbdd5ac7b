// @module-tag campaign/answers

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byKey } from '../../../../schema/row.ts';
import type { DailyStream } from '../../../../src/core/stream.ts';
import { DAILY_STREAMS } from '../../../../src/core/stream.ts';
import { normalize, type Stored } from '../../../support/pipeline/normalize.ts';
import { MODEL_KEYS, rowOf } from '../../../support/random/api-rows.ts';
import { answersMax } from '../../../support/suite/campaign-length.ts';

type Json = Record<string, unknown>;

/** A list of an answer, and the table that its elements become. Written from the specification, not from the code. */
interface Breakdown {
  readonly stream: DailyStream;
  readonly table: string;
  /** The elements of a row. */
  readonly elements: (row: Json) => Json[];
  readonly key: (element: Json) => string[];
  readonly keyColumns: string[];
  /** Column to field. */
  readonly sums: Readonly<Record<string, string>>;
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const modelOf = (element: Json): string =>
  text(MODEL_KEYS.map((key) => element[key]).find((value) => typeof value === 'string' && value !== ''));

const credits = Object.fromEntries(
  ['billable_tokens', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'].map(
    (name) => [name, name],
  ),
);

function named(stream: DailyStream, table: string, field: string, name: string): Breakdown {
  const elements = (row: Json) => list(row[field]);
  return {
    stream,
    table,
    elements,
    key: (element) => [text(element[name])],
    keyColumns: [name],
    sums: { count: 'count' },
  };
}

const BREAKDOWNS: readonly Breakdown[] = [
  {
    stream: 'tokens',
    table: 'tokens_daily_by_model',
    elements: (row) => list(row['by_model']),
    key: (element) => [modelOf(element)],
    keyColumns: ['model_id'],
    sums: credits,
  },
  {
    stream: 'tokens',
    table: 'tokens_daily_by_user',
    elements: (row) => list(row['by_user']),
    key: (element) => [text(element['user_id'])],
    keyColumns: ['user_id'],
    sums: credits,
  },
  {
    stream: 'tokens',
    table: 'tokens_daily_by_user_model',
    elements: (row) =>
      list(row['by_user']).flatMap((user) =>
        list(user['by_model']).map((element) => ({ ...element, owner: user['user_id'] })),
      ),
    key: (element) => [text(element['owner']), modelOf(element)],
    keyColumns: ['user_id', 'model_id'],
    sums: credits,
  },
  {
    stream: 'tools',
    table: 'tools_daily_by_tool',
    elements: (row) => list(row['by_tool']),
    key: (element) => [text(element['tool'])],
    keyColumns: ['tool'],
    sums: { invocations: 'invocations' },
  },
  {
    stream: 'tools',
    table: 'tools_daily_by_mcp_server',
    elements: (row) => list(row['mcp_by_server']),
    key: (element) => [text(element['server']).toLowerCase()],
    keyColumns: ['server'],
    sums: { invocations: 'invocations' },
  },
  named('tools', 'tools_daily_by_skill', 'skills_by_name', 'name'),
  named('tools', 'tools_daily_by_slash_command', 'slash_commands_by_name', 'name'),
  {
    stream: 'tools',
    table: 'tools_daily_by_hook',
    elements: (row) => list(row['hooks_by_event']),
    key: (element) => [text(element['event']), text(element['matcher']), text(element['command'])],
    keyColumns: ['event', 'matcher', 'command'],
    sums: { count: 'count' },
  },
  {
    stream: 'activity',
    table: 'activity_daily_by_client',
    elements: (row) =>
      Object.entries(row['daily_active_users_by_client'] ?? {}).map(([client, users]) => ({
        client,
        users: users as number,
      })),
    key: (element) => [text(element['client'])],
    keyColumns: ['client'],
    sums: { daily_active_users: 'users' },
  },
  named('productivity', 'productivity_daily_by_extension', 'by_extension', 'extension'),
  named('productivity', 'productivity_daily_by_language', 'by_language', 'language'),
];

function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(nameOf(item), [...(groups.get(nameOf(item)) ?? []), item]);
  return groups;
}

/** The sum of the present values; NULL if there are none. */
function sum(values: readonly unknown[]): number | null {
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length === 0
    ? null
    : numbers.toSorted((a, b) => a - b).reduce((total, value) => total + value, 0);
}

function expectClose(actual: unknown, expected: number | null): void {
  if (expected === null) expect(actual).toBeNull();
  else
    expect(Math.abs(Number(actual) - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));
}

describe.each(BREAKDOWNS)('$table', ({ stream, table, elements, key, keyColumns, sums }) => {
  it('has every key of the answer once, with the sum of its elements, or NULL if none has a number', () => {
    fc.assert(
      fc.property(rowOf[stream], (row) => {
        const groups = groupBy(elements(row), (element) => JSON.stringify(key(element)));
        const stored = normalize(stream, [row]).rows(table);
        const keyOf = (one: Stored) => JSON.stringify(keyColumns.map((column) => one[column]));
        expect(stored.map(keyOf).toSorted()).toEqual([...groups.keys()].toSorted());
        for (const one of stored) {
          const group = groups.get(keyOf(one)) ?? [];
          for (const [column, field] of Object.entries(sums)) {
            expectClose(one[column], sum(group.map((element) => element[field])));
          }
        }
      }),
    );
  });

  it('has the same total as the answer', () => {
    fc.assert(
      fc.property(rowOf[stream], (row) => {
        const stored = normalize(stream, [row]).rows(table);
        for (const [column, field] of Object.entries(sums)) {
          const expected = sum(elements(row).map((element) => element[field]));
          expectClose(sum(stored.map((one) => one[column])), expected);
        }
      }),
      { numRuns: answersMax(50, 15) },
    );
  });
});

/** The same rows with every list and every object in another order. */
function shuffled(value: unknown, next: () => number): unknown {
  const mixed = <Item>(items: Item[]): Item[] =>
    items
      .map((item) => [next(), item] as const)
      .toSorted(([a], [b]) => a - b)
      .map(([, item]) => item);
  if (Array.isArray(value)) return mixed(value.map((item) => shuffled(item, next)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    mixed(Object.entries(value)).map(([name, member]) => [name, shuffled(member, next)]),
  );
}

describe.each(DAILY_STREAMS)('the content of %s', (stream) => {
  const random = fc.infiniteStream(fc.nat());

  it('does not depend on the order in which the answer lists it', () => {
    fc.assert(
      fc.property(rowOf[stream], random, (row, numbers) => {
        const other = shuffled(row, () => numbers.next().value);
        // An unknown field may be a list whose order matters.
        const same = {
          ...(other as Json),
          ...Object.fromEntries(Object.entries(row).filter(([name]) => name.startsWith('new '))),
        };
        expect(normalize(stream, [withoutUnknownLists(same)]).digest).toBe(
          normalize(stream, [withoutUnknownLists(row)]).digest,
        );
      }),
      { numRuns: answersMax(200, 50) },
    );
  });

  it('has its rows in key order, each key once', () => {
    fc.assert(
      fc.property(rowOf[stream], (row) => {
        for (const { table, rows } of normalize(stream, [row]).tables) {
          const compare = byKey(table);
          expect(rows.every((one, index) => index === 0 || compare(rows[index - 1] ?? [], one) < 0)).toBe(
            true,
          );
        }
      }),
      { numRuns: answersMax(50, 15) },
    );
  });

  it('is empty when the answer has no rows', () => {
    expect(normalize(stream, []).tables.flatMap(({ rows }) => rows)).toEqual([]);
  });

  it('fills every column of every row', () => {
    fc.assert(
      fc.property(rowOf[stream], (row) => {
        for (const { table, rows } of normalize(stream, [row]).tables) {
          for (const one of rows) {
            expect(one).toHaveLength(Object.keys(table.columns).length);
            expect(
              one.every((value) => value === null || typeof value === 'string' || Number.isFinite(value)),
            ).toBe(true);
          }
        }
      }),
      { numRuns: answersMax(50, 15) },
    );
  });
});

/** Unknown fields replaced by one that has no order. */
function withoutUnknownLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUnknownLists);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name.startsWith('new ') ? 1 : withoutUnknownLists(member),
    ]),
  );
}

describe('summed values', () => {
  it('have the same sum in any order, fractions too', () => {
    // 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1.
    const values = fc.array(fc.constantFrom(0.1, 0.2, 0.3, 1e-9, 1e9, 7, null), {
      minLength: 3,
      maxLength: 8,
    });
    fc.assert(
      fc.property(values, (counts) => {
        const digestOf = (list: readonly (number | null)[]) => {
          const elements = list.map((count) => ({ name: 's', server: 'S', count, invocations: count }));
          const row = { date: '2026-02-01', skills_by_name: elements, mcp_by_server: elements };
          return normalize('tools', [row]).digest;
        };
        expect(digestOf(counts.toReversed())).toBe(digestOf(counts));
      }),
    );
  });

  it('are refused when the sum cannot be stored exactly', () => {
    const huge = { extension: 'ts', count: Number.MAX_SAFE_INTEGER };
    expect(() => normalize('productivity', [{ date: '2026-02-01', by_extension: [huge, huge] }])).toThrow(
      expect.objectContaining({
        name: 'UnitError',
        message: expect.stringContaining('cannot be kept exactly'),
      }),
    );
  });
});
