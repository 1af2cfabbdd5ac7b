// @module-tag database-specific

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyTable, ColumnKind } from '../../../schema/define.ts';
import { inKeyOrder, type TableRows, type Value, type Values } from '../../../schema/row.ts';
import { allTables, tables } from '../../../schema/tables.ts';
import { canonicalText } from '../../../src/core/json-text.ts';
import { readUnits } from '../../../src/ledger/ledger.ts';
import { countRestatements } from '../../../src/ledger/restatements.ts';
import { changeRows } from '../../../src/port/steps.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const SEED = 20_260_214;

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((value) => !value.includes('\0'));
const json = fc.json({ maxDepth: 3 }).filter((value) => !value.includes('\\u0000'));
const whole = fc.maxSafeInteger();
const instant = fc
  .date({
    min: new Date('0001-01-01T00:00:00.000Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString());
const metric = fc.oneof(
  whole,
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 }).map((value) => value + 0),
);

/** Any value of a column. */
const VALUES: Readonly<Record<ColumnKind, fc.Arbitrary<Value>>> = {
  key: text,
  day: instant.map((value) => value.slice(0, 10)),
  date: fc.option(instant.map((value) => value.slice(0, 10))),
  text,
  label: fc.option(text),
  metric: fc.option(metric),
  amount: metric,
  integer: fc.option(whole),
  count: whole,
  flag: fc.option(fc.constantFrom(0, 1)),
  yesNo: fc.constantFrom(0, 1),
  instant,
  moment: fc.option(instant),
  json: fc.option(json.map(canonicalText)),
  record: json,
};

/** Rows of a table, each key once, in key order. */
function rowsOf(table: AnyTable): fc.Arbitrary<TableRows> {
  const row = fc.tuple(...Object.values(table.columns).map(({ kind }) => VALUES[kind]));
  const names = Object.keys(table.columns);
  const keyOf = (values: Values) => JSON.stringify(table.key.map((name) => values[names.indexOf(name)]));
  return fc
    .uniqueArray(row, { selector: keyOf, maxLength: 6 })
    .map((rows) => ({ table, rows: inKeyOrder(table, rows) }));
}

async function stored(warehouse: Warehouse, table: AnyTable): Promise<Values[]> {
  const rows: Values[] = [];
  for await (const chunk of warehouse.scan(table)) rows.push(...chunk);
  return rows;
}

const model = (id: string, billable: number | null): Values => [
  'org_1',
  '2026-02-01',
  id,
  null,
  billable,
  1,
  1,
  1,
  1,
  null,
];
const models = (...rows: Values[]): TableRows => ({ table: tables.tokensDailyByModel, rows });

onEachDatabase((database) => {
  describe('moved rows', () => {
    it('are inserted, updated where they differ, and counted', async () => {
      const warehouse = await open(database);
      const put = (...rows: Values[]) => changeRows(warehouse, { put: [models(...rows)], remove: [] });
      expect(await put(model('a', 1), model('b', 2), model('c', null))).toBe(3);
      expect(await put(model('a', 1), model('b', 3), model('c', 0), model('d', 4))).toBe(3);
      expect(await stored(warehouse, tables.tokensDailyByModel)).toEqual([
        model('a', 1),
        model('b', 3),
        model('c', 0),
        model('d', 4),
      ]);
      expect(await put()).toBe(0);
    });

    it('are deleted by their keys, whatever their other columns contain', async () => {
      const warehouse = await open(database);
      await changeRows(warehouse, { put: [models(model('a', 1), model('b', 2), model('c', 3))], remove: [] });
      const gone = model('a', null).map((value, index) => (index < 3 ? value : null));
      const removed = await changeRows(warehouse, {
        put: [],
        remove: [models(gone, model('b', 99), model('x', 1))],
      });
      expect(removed).toBe(2);
      expect(await stored(warehouse, tables.tokensDailyByModel)).toEqual([model('c', 3)]);
    });

    it('may be replaced at once: a row that is removed and written again exists', async () => {
      const warehouse = await open(database);
      await changeRows(warehouse, { put: [models(model('a', 1))], remove: [] });
      await changeRows(warehouse, { put: [models(model('a', 2))], remove: [models(model('a', 1))] });
      expect(await stored(warehouse, tables.tokensDailyByModel)).toEqual([model('a', 2)]);
    });

    it('are moved all or none', async () => {
      const warehouse = await open(database);
      await changeRows(warehouse, { put: [models(model('a', 1))], remove: [] });
      const wrong: TableRows = {
        table: tables.activityDailyByClient,
        rows: [['org_1', '2026-02-01', null, 1, null]],
      };
      const change = { put: [models(model('b', 2)), wrong], remove: [models(model('a', 1))] };
      expect(await thrownBy(changeRows(warehouse, change))).toBeInstanceOf(Error);
      expect(await stored(warehouse, tables.tokensDailyByModel)).toEqual([model('a', 1)]);
    });

    it('write only themselves: neither the ledger nor a restatement', async () => {
      const warehouse = await open(database);
      const commit = commitOf({ rows: { tokens_daily_by_model: [model('a', 1).slice(2)] } });
      await commitDay(warehouse, commit);
      const units = await readUnits(warehouse, 'org_1');
      await changeRows(warehouse, { put: [models(model('a', 5))], remove: [] });
      expect(await readUnits(warehouse, 'org_1')).toEqual(units);
      expect(await countRestatements(warehouse)).toBe(0);
    });

    it('may be thousands', async () => {
      const warehouse = await open(database);
      const many = Array.from({ length: 5000 }, (_, n) => model(`m ${String(n).padStart(4, '0')}`, n));
      expect(await changeRows(warehouse, { put: [models(...many)], remove: [] })).toBe(5000);
      expect(await changeRows(warehouse, { put: [models(...many)], remove: [] })).toBe(0);
      expect(await stored(warehouse, tables.tokensDailyByModel)).toEqual(many);
      expect(await changeRows(warehouse, { put: [], remove: [models(...many)] })).toBe(5000);
    });
  });

  describe('any row of any table', () => {
    it(`is read back unchanged (seed ${SEED})`, { tags: 'ci/again' }, async () => {
      const warehouse = await open(database);
      const filled = fc.tuple(...allTables.map(rowsOf));
      await fc.assert(
        fc.asyncProperty(filled, async (put) => {
          const count = put.reduce((sum, { rows }) => sum + rows.length, 0);
          expect(await changeRows(warehouse, { put, remove: [] })).toBe(count);
          for (const { table, rows } of put) {
            expect(await stored(warehouse, table), table.name).toEqual(rows);
          }
          expect(await changeRows(warehouse, { put, remove: [] })).toBe(0);
          expect(await changeRows(warehouse, { put: [], remove: put })).toBe(count);
        }),
        { numRuns: 25, seed: SEED },
      );
    });
  });
});
