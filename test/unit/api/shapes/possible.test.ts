import { describe, expect, test } from 'vitest';
import { type Invariant, invariantName, invariantsOf } from '../../../../schema/invariants.ts';
import { allTables, tablesOf } from '../../../../schema/tables.ts';
import { type Declared, possibleRows } from '../../../../src/api/answer-rules.ts';
import { type RowCheck, rowCheck } from '../../../../src/checks/row-check.ts';
import { ActivityRow, TokensRow, ToolsRow, UserRow } from '../../../../src/contract/shapes.ts';
import { STREAMS } from '../../../../src/core/stream.ts';

const anyShape: RowCheck<object> = (rows) => ({ rows: rows as object[], rejected: [] });

const impossible = allTables.flatMap(invariantsOf).filter(({ severity }) => severity === 'impossible');
const cases = STREAMS.flatMap((stream) =>
  impossible
    .filter(({ table }) => table.stream === stream)
    .map((invariant) => [invariantName(invariant), { tables: tablesOf(stream) }, invariant] as const),
);

/** Fields of rows that are maps; the others are lists. */
const MAPS: readonly string[] = ['report', 'daily_active_users_by_client'];

/** The row of an answer with a record whose value is at its bound, or beyond it. */
function rowWith({ table, column, relation, bound }: Invariant, isBeyond: boolean): object {
  const limit = typeof bound === 'number' ? bound : 7;
  const value = isBeyond ? (relation === '≥' ? limit - 1 : limit + 1) : limit;
  const isOther = typeof bound !== 'number' && bound.table !== table;
  const limits = typeof bound === 'number' ? {} : { [bound.column]: limit };
  // The only elements that are plain numbers are those that are compared with the row.
  const record: unknown = isOther ? value : { [column]: value, ...limits };
  const row = (table.inside ?? []).reduceRight(
    (element, field) => ({ [field]: MAPS.includes(field) ? { one: element } : [element] }),
    record,
  );
  return { ...(row as object), ...(isOther ? limits : {}) };
}

describe('a value that cannot be true', () => {
  test('is looked for in every table of the service', () => {
    expect(cases.length).toBe(impossible.length);
    expect(cases.length).toBeGreaterThan(60);
  });

  test.each<readonly [string, Declared, Invariant]>(cases)('%s', (_, declared, invariant) => {
    const check = possibleRows(anyShape, declared);
    const options = { path: 'data', text: '' };
    const fine = rowWith(invariant, false);
    const same = check([fine], options);
    expect(same.rejected).toEqual([]);
    expect(same.rows[0]).toBe(fine);
    const wrong = rowWith(invariant, true);
    const { rows, rejected } = check([fine, wrong], options);
    const fields = invariant.table.inside ?? [];
    const path = fields.map((field) => `.${field}${MAPS.includes(field) ? '["one"]' : '[0]'}`).join('');
    expect(rejected).toEqual([
      {
        record: expect.anything(),
        path: `data[1]${path}`,
        kind: 'impossible',
        reason: expect.stringContaining(`${invariant.column} is `),
      },
    ]);
    // Only what is wrong is left out.
    expect(rows).toHaveLength(fields.length === 0 ? 1 : 2);
    expect(JSON.stringify(rows)).not.toContain(JSON.stringify(wrong));
  });

  test('is left out of a row that keeps everything else, and named by its place in the answer', () => {
    const by_tool = [{}, { tool: 'Read', invocations: 3 }, { tool: 'Edit', invocations: -3 }];
    const row = { date: '2026-02-01', tool_calls: 3, by_tool };
    const { rows, rejected } = possibleRows(rowCheck(ToolsRow), { tables: tablesOf('tools') })([row], {
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
    const row = {
      date: '2026-02-01',
      daily_active_users: 2,
      daily_active_users_by_client: { web: 3, cli: 2 },
    };
    const { rows, rejected } = possibleRows(rowCheck(ActivityRow), { tables: tablesOf('activity') })([row], {
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
  const checkUsers = possibleRows(rowCheck(UserRow), {
    tables: tablesOf('users'),
    name: ['date', 'user_id'],
  });
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

  test('with the same values counts once, as in a run, and on another day by itself', () => {
    const [first, again, later] = [
      user('a', 1),
      { sessions: 1, date: '2026-02-01', user_id: 'a' },
      user('a', 2, '2026-02-02'),
    ];
    expect(checkUsers([first, again, later], options)).toEqual({ rows: [first, later], rejected: [] });
  });

  test('on two pages of a walk counts once, and is rejected on the later one if it has other values', () => {
    const walk = { ...options, earlier: new Map() };
    const [a, b, c] = [user('a', 1), user('b', 1), user('c', 1)];
    expect(checkUsers([a, b], walk)).toEqual({ rows: [a, b], rejected: [] });
    const { rows, rejected } = checkUsers([b, user('a', 2), c, user('a', 3)], walk);
    expect(rows).toEqual([c]);
    expect(rejected.map(({ path, kind }) => [path, kind])).toEqual([
      ['data[1]', 'contradiction'],
      ['data[3]', 'contradiction'],
    ]);
  });

  test('in records that nest too deeply to compare is rejected', () => {
    const nested = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    const deep = (sessions: number) => ({ ...user('a', sessions), nested });
    expect(checkUsers([deep(1)], options).rows).toHaveLength(1);
    expect(checkUsers([deep(1), deep(1)], options)).toMatchObject({ rows: [], rejected: [{}, {}] });
  });

  test('in a breakdown is summed by a run, and not rejected', () => {
    const by_model = [
      { model_id: 'm', billable_tokens: 1 },
      { model_id: 'm', billable_tokens: 2 },
    ];
    const rows = [{ date: '2026-02-01', by_model }];
    const check = possibleRows(rowCheck(TokensRow) as RowCheck<TokensRow>, {
      tables: tablesOf('tokens'),
      name: ['date'],
    });
    expect(check(rows, options)).toEqual({ rows, rejected: [] });
  });
});
