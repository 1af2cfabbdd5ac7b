import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type FocusWorld, focusWorld, type IssueOptions } from '../../support/focus/focus-world.ts';

/** A world with an original, a correction of it, and the file of another month. */
async function issuedWorld(): Promise<FocusWorld> {
  const world = await focusWorld();
  await world.day('2026-02-01', { 'ada/atlas': 1_000_000 });
  await world.day('2026-03-01', { 'ada/atlas': 1_000_000 });
  await world.prices(['2026-01-01', null, 'EUR', 10]);
  await world.issue('0.csv');
  await world.issue('march.csv', { month: '2026-03' });
  await world.day('2026-02-01', { 'ada/atlas': 2_000_000 });
  await world.issue('1.csv', { corrects: ['0.csv'] });
  await world.issue('other.csv');
  return world;
}

/** Expects that nothing is written. */
async function expectRefused(
  world: FocusWorld,
  name: string,
  options: IssueOptions,
  message: RegExp,
): Promise<void> {
  const before = readdirSync(world.folder);
  const error: unknown = await world.issue(name, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(message),
    hint: expect.stringMatching(/\w/),
  });
  expect(readdirSync(world.folder)).toEqual(before);
}

describe('nothing is written, with exit code 2', () => {
  test('if a day with tokens has no price, even if only the total has them', async () => {
    const world = await focusWorld();
    await world.day('2026-02-01', { 'ada/atlas': 1 });
    await world.day('2026-02-02', { 'ada/atlas': 0 });
    await world.day('2026-02-03', {}, 5);
    await expectRefused(world, 'f.csv', {}, /no price is loaded for 2026-02-01, 2026-02-03$/);
    await world.prices(['2026-02-01', '2026-02-01', 'EUR', 1]);
    await expectRefused(world, 'f.csv', {}, /no price is loaded for 2026-02-03$/);
    await world.prices(['2026-02-01', '2026-02-01', 'EUR', 1], ['2026-02-03', null, 'EUR', 1]);
    expect(await world.issue('f.csv')).toMatchObject({ total: { rows: 2 } });
  });

  test('if the prices of the month have several currencies, or another one than the issued files', async () => {
    const world = await issuedWorld();
    await world.day('2026-02-02', { 'ada/atlas': 1 });
    await world.prices(['2026-01-01', '2026-02-01', 'EUR', 10], ['2026-02-02', null, 'USD', 10]);
    await expectRefused(world, 'f.csv', {}, /several currencies: EUR, USD/);
    await world.prices(['2026-01-01', null, 'USD', 10]);
    await expectRefused(
      world,
      'f.csv',
      { corrects: ['0.csv', '1.csv'] },
      /are in USD now, but .* issued in EUR/,
    );
  });

  test('if a correction would take back a day that is not stored', async () => {
    const world = await focusWorld();
    await world.prices(['2026-01-01', null, 'EUR', 10]);
    for (const day of ['2026-02-01', '2026-02-02']) await world.day(day, { 'ada/atlas': 1_000_000 });
    await world.issue('0.csv');
    for (const table of ['export_units', 'tokens_daily', 'tokens_daily_by_user_model'])
      await world.execute(`DELETE FROM ${table} WHERE date = '2026-02-02'`);
    await expectRefused(world, '1.csv', { corrects: ['0.csv'] }, /not stored were issued: 2026-02-02/);
  });

  test('if the issued files are not exactly those of this bill, in their order and as they were', async () => {
    const world = await issuedWorld();
    copyFileSync(world.path('0.csv'), world.path('copy.csv'));
    const cases: readonly (readonly [corrects: string[], message: RegExp])[] = [
      [
        ['march.csv'],
        /march\.csv:2: BillingPeriodStart is "2026-03-01T00:00:00Z" instead of "2026-02-01T00:00:00Z"/,
      ],
      [['1.csv'], /1\.csv corrects a file that is not given before it: SHA-256 [0-9a-f]{64}$/],
      [['1.csv', '0.csv'], /1\.csv corrects a file that is not given before it/],
      [['0.csv', '0.csv'], /has the same content/],
      [['0.csv', 'copy.csv'], /copy\.csv has the same content as .*0\.csv/],
      [['0.csv', 'other.csv'], /0\.csv and .*other\.csv are both originals/],
      [['other.csv', '1.csv'], /1\.csv corrects a file that is not given/],
      [['none.csv'], /none\.csv: ENOENT/],
    ];
    for (const [corrects, message] of cases) await expectRefused(world, 'f.csv', { corrects }, message);
    await expectRefused(
      world,
      'f.csv',
      { corrects: ['0.csv'], provider: 'Q' },
      /ProviderName is "P" instead of "Q"/,
    );
  });

  test('if an issued file was changed or is something else', { tags: 'ci/variant' }, async () => {
    const world = await issuedWorld();
    const text = readFileSync(world.path('0.csv'), 'utf8');
    const cases: readonly (readonly [content: string, message: RegExp])[] = [
      [text.replace('1000000.0', '1.000.000'), /x\.csv:2: ConsumedQuantity is "1\.000\.000"/],
      [text.replace('EUR', ''), /BillingCurrency is empty/],
      [
        text.replaceAll('2026-02-01T00', '2026-02-30T00').replace('2026-02-30T00', '2026-02-01T00'),
        /x\.csv:2/,
      ],
      [text.replace('x_Layout', 'x_Other'), /does not have the columns/],
      [text.replaceAll(',', ';'), /does not have the columns/],
      [text.replace(/\n$/, ',extra\n'), /x\.csv: Invalid Record Length/],
      ['PAR1', /does not have the columns/],
    ];
    for (const [content, message] of cases) {
      writeFileSync(world.path('x.csv'), content);
      await expectRefused(world, 'f.csv', { corrects: ['x.csv'] }, message);
    }
    copyFileSync(world.path('0.csv'), world.path('x.parquet'));
    await expectRefused(world, 'f.csv', { corrects: ['x.parquet'] }, /x\.parquet: /);
  });

  test('if there is another file, no folder, no such month or no such organization', async () => {
    const world = await issuedWorld();
    await expectRefused(world, '0.csv', {}, /0\.csv exists/);
    await expectRefused(world, '1.csv', { corrects: ['0.csv', '1.csv'] }, /1\.csv exists/);
    await expectRefused(world, 'none/f.csv', {}, /its folder does not exist/);
    await expectRefused(world, 'f.txt', {}, /names no format/);
    await expectRefused(world, 'f.csv', { month: '2025-12' }, /before the first day of the service/);
    await expectRefused(
      world,
      'f.csv',
      { month: '2026-02', now: '2026-02-01' },
      /no day of 2026-02 is over yet/,
    );
    await expectRefused(world, 'f.csv', { organization: 'org_2' }, /does not know the organization "org_2"/);
  });
});
