import { describe, expect, test } from 'vitest';
import { factTable, key, label, metric } from '../../../../schema/define.ts';
import { tables } from '../../../../schema/tables.ts';
import { exactText } from '../../../../src/checks/exact.ts';
import type { UserRow } from '../../../../src/contract/shapes.ts';
import { Findings, mapping } from '../../../../src/pipeline/normalize/records.ts';

const table = factTable({
  name: 'test_daily',
  doc: '',
  stream: 'tools',
  by: { tool: key('') },
  values: { calls: metric(''), errors: metric(''), tier: label('') },
});

function contextOf(body: object) {
  const exact = exactText({ text: JSON.stringify(body), body });
  return { orgId: 'org_1', findings: new Findings(), exact };
}

interface Shape {
  tool: string;
  calls?: number | null;
  errors?: number | null;
}

describe('a mapping', () => {
  const rowOf = mapping(table, { place: 'data[]', given: ['date', 'tier'], known: ['nested'] });

  test('takes each column from the field of its name, whatever the order of the fields', () => {
    const record = { errors: 2, nested: [], calls: 1, tool: 'Read' };
    const context = contextOf(record);
    const row = rowOf<Shape>(record, { tier: 'a', date: '2026-02-01' }, context);
    expect(row).toEqual(['org_1', '2026-02-01', 'Read', 1, 2, 'a', null]);
    expect(context.findings.drift).toEqual([]);
  });

  test('turns missing fields into NULL, and keeps unknown fields, even those with the name of a given column', () => {
    const record = { tool: 'Read', tier: 'service', date: 7, other: 1 };
    const row = rowOf<Shape>(record, { date: '2026-02-01', tier: null }, contextOf(record));
    expect(row.slice(0, -1)).toEqual(['org_1', '2026-02-01', 'Read', null, null, null]);
    expect(row.at(-1)).toBe('{"date":7,"other":1,"tier":"service"}');
  });

  test('does not compile if a column has no field or another type, or is not given', () => {
    // The compiler checks these: without an error below one of the comments, tsc fails.
    const cases = (
      user: UserRow,
      withoutErrors: Omit<Shape, 'errors'>,
      wrong: Omit<Shape, 'calls'> & { calls: string },
    ) => {
      const context = contextOf({});
      const given = { date: '2026-02-01', tier: null };
      // @ts-expect-error The shape lacks the field of the column errors.
      rowOf(withoutErrors, given, context);
      // @ts-expect-error The field of the column calls is a text.
      rowOf(wrong, given, context);
      // @ts-expect-error The given column tier is missing.
      rowOf<Shape>({ tool: 'Read' }, { date: '2026-02-01' }, context);
      // @ts-expect-error A text where a number is due.
      rowOf<Shape>({ tool: 'Read', calls: '1' }, given, context);
      // @ts-expect-error A column is given that the table does not have.
      mapping(table, { place: 'data[]', given: ['datum'] });
      // @ts-expect-error Records of /users are no rows of /tools.
      mapping(tables.toolsDaily, { place: 'data[]' })(user, {}, context);
    };
    expect(cases).toBeTypeOf('function');
  });
});
