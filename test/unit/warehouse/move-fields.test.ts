import { expect, test } from 'vitest';
import { encoderOf, readerOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { addedColumns, movedRow } from '../../../src/warehouse/upgrade.ts';

const { userDaily } = tables;
const encode = encoderOf(tables.toolsDailyBySkill);
const ADDED = new Set(['count']);

/** A row that was stored before `count` was known, after an upgrade. */
function upgraded(extra: string | null): { count: unknown; extra: unknown } {
  const row = encode({ org_id: 'o', date: '2026-02-01', name: 's', count: null, extra });
  const moved = movedRow(tables.toolsDailyBySkill, row, ADDED);
  return {
    count: readerOf(tables.toolsDailyBySkill, 'count')(moved),
    extra: readerOf(tables.toolsDailyBySkill, 'extra')(moved),
  };
}

test('a field moves from extra into its column, and the other fields keep every digit', () => {
  expect(upgraded('{"count":7}')).toEqual({ count: 7, extra: null });
  expect(upgraded('{"count":2.5,"z":12345678901234567890}')).toEqual({
    count: 2.5,
    extra: '{"z":12345678901234567890}',
  });
  expect(upgraded('{"count":null,"a":{"count":1}}')).toEqual({ count: null, extra: '{"a":{"count":1}}' });
  expect(upgraded('{"a":{"count":1}}')).toEqual({ count: null, extra: '{"a":{"count":1}}' });
  expect(upgraded(null)).toEqual({ count: null, extra: null });
});

test.each(['"7"', '{"n":7}', '[7]', 'true', '9007199254740993', '1e400'])(
  'a value that does not fit the column stays in extra: %s',
  (value) => {
    expect(upgraded(`{"count":${value}}`)).toEqual({ count: null, extra: `{"count":${value}}` });
  },
);

test('the columns that a migration adds are found in the statements for either database', () => {
  const sql = [
    'ALTER TABLE `user_daily` ADD `sessions` real;',
    'ALTER TABLE "user_daily" ADD COLUMN "messages" double precision;',
    // Not a column of this version, not a table with unknown fields, and no column at all.
    'ALTER TABLE `user_daily` ADD `was_removed_again` real;',
    'ALTER TABLE `export_units` ADD `rows` integer;',
    'CREATE TABLE `prices` (`a` text)',
  ];
  expect(addedColumns([{ sql }])).toEqual(new Map([[userDaily, new Set(['sessions', 'messages'])]]));
});
