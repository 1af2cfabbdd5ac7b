import { describe, expect, test } from 'vitest';
import type { AnyTable } from '../../../../schema/define.ts';
import { type Invariant, invariantName, invariantsOf } from '../../../../schema/invariants.ts';
import { allTables } from '../../../../schema/tables.ts';
import { DECLARED, possibleRows } from '../../../../src/api/answer-rules.ts';
import { type RowCheck, rowCheck } from '../../../../src/contract/row-check.ts';
import { ActivityRow, TokensRow, ToolsRow, UserRow } from '../../../../src/contract/shapes.ts';

const anyShape: RowCheck<object> = (rows) => ({ rows: rows as object[], rejected: [] });

type Declared = Parameters<typeof possibleRows>[1];

/** A place in the answer of an endpoint: the fields that lead to a record of the table. */
interface Place {
  readonly endpoint: string;
  readonly declared: Declared;
  readonly table: AnyTable;
  readonly fields: readonly string[];
  readonly numbers: string | undefined;
}

const places = Object.entries<Declared>(DECLARED).flatMap(([endpoint, declared]) =>
  placesIn(declared, { endpoint, declared, fields: [] }),
);

function placesIn(part: Declared, at: Pick<Place, 'endpoint' | 'declared' | 'fields'>): Place[] {
  const inside = Object.entries(part.parts ?? {});
  return [
    { ...at, table: part.table, numbers: part.numbers },
    ...inside.flatMap(([field, own]) => placesIn(own, { ...at, fields: [...at.fields, field] })),
  ];
}

const impossible = allTables.flatMap(invariantsOf).filter(({ severity }) => severity === 'impossible');
const cases = places.flatMap((place) =>
  impossible
    .filter(({ table }) => table === place.table)
    .map((invariant) => [`${place.endpoint}: ${invariantName(invariant)}`, place, invariant] as const),
);

/** The answer with a record that violates an invariant, or is just possible. */
function answerWith({ fields, numbers }: Place, invariant: Invariant, isBeyond: boolean): object {
  const { column, relation, bound, table } = invariant;
  const limit = typeof bound === 'number' ? bound : 7;
  const value = isBeyond ? (relation === '≥' ? limit - 1 : limit + 1) : limit;
  const isOther = typeof bound !== 'number' && bound.table !== table;
  const larger = typeof bound === 'number' || isOther ? {} : { [bound.column]: limit };
  const record: unknown = numbers === undefined ? { [column]: value, ...larger } : value;
  const inside = fields.reduceRight<unknown>(
    // A map has its elements by name, a list by position; both are the first ones here.
    (element, field) => ({ [field]: isMap(field) ? { one: element } : [element] }),
    record,
  );
  return isOther ? { ...(inside as object), [bound.column]: limit } : (inside as object);
}

function isMap(field: string): boolean {
  return field === 'report' || field === 'daily_active_users_by_client';
}

describe('a value that cannot be true', () => {
  test('is looked for in every table that the service fills', () => {
    const checked = new Set(cases.map(([, , invariant]) => invariantName(invariant)));
    expect([...checked].toSorted()).toEqual(impossible.map(invariantName).toSorted());
  });

  test.each(cases)('%s', (_, place, invariant) => {
    const check = possibleRows(anyShape, place.declared);
    const options = { path: 'data', text: '' };
    const fine = answerWith(place, invariant, false);
    const same = check([fine], options);
    expect(same.rejected).toEqual([]);
    expect(same.rows[0]).toBe(fine);
    const wrong = answerWith(place, invariant, true);
    const { rows, rejected } = check([fine, wrong], options);
    const path = place.fields.map((field) => `.${field}${isMap(field) ? '["one"]' : '[0]'}`).join('');
    expect(rejected).toEqual([
      {
        record: expect.anything(),
        path: `data[1]${path}`,
        kind: 'impossible',
        reason: expect.stringContaining(`${invariant.column} is `),
      },
    ]);
    // Only what is wrong is left out.
    expect(rows).toHaveLength(place.fields.length === 0 ? 1 : 2);
    expect(JSON.stringify(rows)).not.toContain(JSON.stringify(wrong));
  });

  test('is left out of a row that keeps everything else, and named by its place in the answer', () => {
    const by_tool = [{}, { tool: 'Read', invocations: 3 }, { tool: 'Edit', invocations: -3 }];
    const row = { date: '2026-02-01', tool_calls: 3, by_tool };
    const { rows, rejected } = possibleRows(rowCheck(ToolsRow), DECLARED.tools)([row], {
      path: 'data',
      text: JSON.stringify(row),
    });
    expect(rows).toEqual([{ ...row, by_tool: [by_tool[1]] }]);
    expect(rejected).toMatchObject([
      { path: 'data[0].by_tool[0]', kind: 'wrong-type' },
      { path: 'data[0].by_tool[2]', kind: 'impossible', record: by_tool[2] },
    ]);
  });

  test('of a client is compared with the day', () => {
    const row = { date: '2026-02-01', daily_active_users: 2, daily_active_users_by_client: { web: 3, cli: 2 } };
    const { rows, rejected } = possibleRows(rowCheck(ActivityRow), DECLARED.activity)([row], {
      path: 'data',
      text: '',
    });
    expect(rows).toEqual([{ ...row, daily_active_users_by_client: { cli: 2 } }]);
    expect(rejected[0]?.reason).toBe(
      'daily_active_users is 3, which is more than activity_daily.daily_active_users (2)',
    );
  });
});

describe('a name that an answer has twice', () => {
  const checkUsers = possibleRows(rowCheck(UserRow), DECLARED.users);
  const options = { path: 'data', text: '' };
  const user = (user_id: string, sessions: number, date = '2026-02-01') => ({ user_id, date, sessions });

  test('with different values is rejected each time', () => {
    const rows = [user('a', 1), user('b', 1), user('a', 2), user('a', 2)];
    const found = checkUsers(rows, options);
    expect(found.rows).toEqual([rows[1]]);
    expect(found.rejected.map(({ path, kind }) => [path, kind])).toEqual([
      ['data[0]', 'contradiction'],
      ['data[2]', 'contradiction'],
      ['data[3]', 'contradiction'],
    ]);
  });

  test('with the same values, or on another day, is not', () => {
    const rows = [user('a', 1), { sessions: 1, ...user('a', 1) }, user('a', 2, '2026-02-02')];
    expect(checkUsers(rows, options)).toEqual({ rows, rejected: [] });
  });

  test('in a breakdown is summed by a run, and not rejected', () => {
    const by_model = [
      { model_id: 'm', billable_tokens: 1 },
      { model_id: 'm', billable_tokens: 2 },
    ];
    const rows = [{ date: '2026-02-01', by_model }];
    const check = possibleRows(rowCheck(TokensRow) as RowCheck<TokensRow>, DECLARED.tokens);
    expect(check(rows, options)).toEqual({ rows, rejected: [] });
  });
});
