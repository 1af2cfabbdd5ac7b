import { expect, test } from 'vitest';
import { COLUMN_NAMES, COLUMNS, type FocusColumn } from '../../../src/bi/focus/columns.ts';
import { type FileRow, focusWorld } from '../../support/focus/focus-world.ts';
import { SPECIFICATION, WANTED } from '../../support/focus/specification.ts';

const own = COLUMN_NAMES.filter((name) => name.startsWith('x_'));
const specified = COLUMN_NAMES.filter((name) => !name.startsWith('x_'));

/** The declaration of a column, by any name. */
const declared = (name: string): FocusColumn | undefined =>
  new Map<string, FocusColumn>(Object.entries(COLUMNS)).get(name);

test('columns have the names and types of FOCUS 1.2, in alphabetical order, and our own come last', () => {
  expect(COLUMN_NAMES).toEqual([...specified.toSorted(), ...own.toSorted()]);
  for (const name of specified)
    expect(SPECIFICATION[name], name).toMatchObject({ type: declared(name)?.type });
});

test('every column that the specification asks for is there', () => {
  const mandatory = Object.keys(SPECIFICATION).filter((name) => SPECIFICATION[name]?.level !== 'Conditional');
  expect(mandatory.length).toBeGreaterThan(20);
  expect([...mandatory, ...WANTED].filter((name) => declared(name) === undefined)).toEqual([]);
});

test('no column is null where the specification forbids it, or has a value that it does not allow', () => {
  for (const name of specified) {
    const { isNullable = false, allowed } = SPECIFICATION[name] ?? {};
    if (!isNullable) expect(declared(name)?.isNullable, name).toBe(false);
    if (allowed !== undefined)
      expect(allowed, name).toEqual(expect.arrayContaining([...(declared(name)?.allowed ?? ['?'])]));
  }
});

/** An original with an unattributed row above and below 0, and a correction with every reason. */
async function bothFiles(): Promise<{ original: FileRow[]; correction: FileRow[] }> {
  const world = await focusWorld();
  await world.day('2026-02-01', { 'ada/atlas': 1_234_567, 'bob/atlas': 70 }, 1_300_000);
  await world.day('2026-02-28', { 'ada/atlas': 300 }, 299);
  await world.prices(['2026-01-01', null, 'EUR', 12.3]);
  await world.teams(['ada', '2026-01-01', '9999-12-31', 'Core', '4711']);
  await world.issue('a.csv');
  await world.day('2026-02-01', { 'ada/atlas': 1_234_568, 'bob/atlas': 70 }, 1_300_000);
  await world.prices(['2026-01-01', '2026-02-27', 'EUR', 12.3], ['2026-02-28', null, 'EUR', 10]);
  await world.teams(['ada', '2026-01-01', '9999-12-31', 'Web', null]);
  await world.issue('b.csv', { corrects: ['a.csv'] });
  return { original: world.rows('a.csv'), correction: world.rows('b.csv') };
}

test('the values of both kinds of files keep to their declarations and to the rules between columns', async () => {
  const { original, correction } = await bothFiles();
  expect(new Set(correction.map((row) => row['x_CorrectionReason']))).toEqual(
    new Set(['restated', 'repriced', 'reassigned']),
  );
  expect(original.filter((row) => Number(row['ConsumedQuantity']) < 0)).toHaveLength(1);
  expect(original.map((row) => row['ChargeClass'])).toEqual(original.map(() => ''));
  expect(correction.map((row) => row['ChargeClass'])).toEqual(correction.map(() => 'Correction'));
  for (const row of [...original, ...correction]) {
    for (const name of COLUMN_NAMES) expectDeclared(name, row[name] ?? '');
    expectRules(row);
  }
});

const SHAPES = {
  String: /\S/,
  Decimal: /^-?\d+\.\d+(E-?\d+)?$/,
  'Date/Time': /^\d{4}-\d{2}-\d{2}T00:00:00Z$/,
  JSON: /^\{("[^"]+":"[^"]*",?)+\}$/,
};

function expectDeclared(name: string, text: string): void {
  const { type = 'String', isNullable, allowed } = declared(name) ?? {};
  if (text === '') {
    expect(isNullable, name).toBe(true);
    return;
  }
  expect(text, name).toMatch(SHAPES[type]);
  if (allowed !== undefined) expect(allowed, name).toContain(text);
}

function expectRules(row: FileRow): void {
  const number = (name: string) => Number(row[name]);
  const isNull = (name: string) => row[name] === '';
  expect((row['ChargePeriodStart'] ?? '') >= (row['BillingPeriodStart'] ?? '')).toBe(true);
  expect((row['ChargePeriodEnd'] ?? '') <= (row['BillingPeriodEnd'] ?? '')).toBe(true);
  expect(Date.parse(row['ChargePeriodEnd'] ?? '') - Date.parse(row['ChargePeriodStart'] ?? '')).toBe(
    86_400_000,
  );
  for (const name of ['EffectiveCost', 'ListCost', 'ContractedCost'])
    expect(row[name]).toBe(row['BilledCost']);
  for (const name of ['ListUnitPrice', 'ContractedUnitPrice']) {
    expect(number(name)).toBeGreaterThanOrEqual(0);
    if (isNull('ChargeClass')) expect(number(name) * number('PricingQuantity')).toBe(number('BilledCost'));
  }
  expect(number('PricingQuantity') * number('PricingCurrencyListUnitPrice')).toBeCloseTo(
    number('PricingCurrencyEffectiveCost'),
    6,
  );
  expect(isNull('ResourceType')).toBe(isNull('ResourceId'));
  expect(row['SubAccountName']).toBe(row['SubAccountId']);
  expect(isNull('x_CorrectionReason')).toBe(isNull('ChargeClass'));
  expect(isNull('x_CorrectedFiles')).toBe(isNull('ChargeClass'));
}
