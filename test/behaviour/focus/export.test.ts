import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { focusWorld, sumOfFiles } from '../../support/focus/focus-world.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { ask } from '../../support/publish/lake.ts';
import { type Database, databases, onEachDatabase } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  test('a file has each user, model and day with the team of that day, and what the total has beyond them', async () => {
    const world = await focusWorld(database);
    await world.day(
      '2026-02-01',
      { 'ada/atlas': 2_000_000, 'ada/nova': 500_000, 'bob/atlas': 10 },
      3_000_010,
    );
    await world.day('2026-02-02', { 'ada/atlas': 1_000_000 }, 900_000);
    await world.day('2026-03-01', { 'ada/atlas': 7 });
    await world.prices(['2026-02-01', '2026-02-01', 'EUR', 10], ['2026-02-02', null, 'EUR', 20]);
    await world.teams(
      ['ada', '2026-01-01', '2026-02-01', 'Core', 'CC1'],
      ['ada', '2026-02-02', '9999-12-31', 'Web', null],
    );
    const report = await world.issue('focus.csv');
    expect(sumOfFiles(world.rows('focus.csv'))).toEqual({
      '2026-02-01 ada atlas Core {"cost_center":"CC1"}': [2_000_000, 20],
      '2026-02-01 ada nova Core {"cost_center":"CC1"}': [500_000, 5],
      '2026-02-01 bob atlas  ': [10, 0.0001],
      '2026-02-01  unattributed  ': [500_000, 5],
      '2026-02-02 ada atlas Web ': [1_000_000, 20],
      '2026-02-02  unattributed  ': [-100_000, -2],
    });
    expect(report).toMatchObject({
      kind: 'original',
      currency: 'EUR',
      total: { rows: 6, billable_tokens: 3_900_010 },
      unattributed: { rows: 2, billable_tokens: 400_000, cost: 3 },
      corrections: null,
      days: { expected: 28, missing: expect.any(Array) },
    });
    expect(report.total.cost).toBeCloseTo(48.0001, 9);
  });

  test('a file has the teams of the people and days that are stored, also before the rollups are computed', async () => {
    const world = await focusWorld(database);
    await world.day('2026-02-01', { 'ada/atlas': 5, 'bob/atlas': 7 });
    await world.active('2026-02-01', ['ada', 'bob']);
    await world.prices(['2026-01-01', null, 'EUR', 1_000_000]);
    await world.people(['ada', '2026-01-14', "C'ore"]);
    await world.issue('stale.csv');
    expect(sumOfFiles(world.rows('stale.csv'))).toEqual({
      "2026-02-01 ada atlas C'ore ": [5, 5],
      '2026-02-01 bob atlas  ': [7, 7],
    });
    await world.refresh();
    const { is_unchanged, warnings } = await world.issue('stale.csv');
    expect(is_unchanged).toBe(true);
    expect(warnings.filter((warning) => warning.includes('team'))).toEqual([]);
  });

  test('the corrections of several reasons add up with the original to a file of today, and do not repeat', {
    tags: 'ci/rare',
  }, async () => {
    const world = await focusWorld(database);
    await world.day('2026-02-01', { 'ada/atlas': 2_000_000, 'bob/atlas': 1_000_000, 'eve/nova': 5 });
    await world.prices(['2026-01-01', null, 'EUR', 10]);
    await world.teams(['ada', '2026-01-01', '9999-12-31', 'Core', null]);
    await world.issue('0.parquet');
    await world.issue('0.csv');

    await world.day('2026-02-01', { 'ada/atlas': 2_000_000, 'bob/atlas': 1_500_000, 'eve/nova': 5 });
    await world.teams(['ada', '2026-01-01', '9999-12-31', 'Web', 'CC2']);
    const first = await world.issue('1.csv', { corrects: ['0.parquet'] });
    expect(first.corrections).toMatchObject({
      reassigned: { rows: 2, cost: 0 },
      restated: { rows: 1, cost: 5 },
      repriced: { rows: 0 },
    });

    await world.prices(['2026-01-01', null, 'EUR', 12]);
    await world.day('2026-02-01', { 'ada/atlas': 2_000_000, 'bob/atlas': 1_500_000 });
    await world.issue('2.csv', { corrects: ['0.parquet', '1.csv'] });
    expect(
      world.rows('2.csv').map((row) => [row['ResourceId'], row['x_CorrectionReason'], row['BilledCost']]),
    ).toEqual([
      ['ada', 'repriced', '4.0'],
      ['bob', 'repriced', '3.0'],
      ['eve', 'restated', '-0.00005'],
    ]);
    await world.issue('today.csv');
    expect(sumOfFiles(world.rows('0.csv'), world.rows('1.csv'), world.rows('2.csv'))).toEqual(
      sumOfFiles(world.rows('today.csv')),
    );
    const again = await world.issue('3.csv', { corrects: ['0.parquet', '1.csv', '2.csv'] });
    expect(again).toMatchObject({ total: { rows: 0 }, month_total: { rows: 2, cost: 42 } });
    expect(world.rows('3.csv')).toEqual([]);
  });
});

test('corrections name nobody again who was erased, or has a pseudonym, since the file was issued', {
  tags: 'ci/rare',
}, async () => {
  const world = await focusWorld();
  const people = { 'user_01ADA00000/atlas': 2_000_000, 'user_01BOB00000/atlas': 1_000_000 };
  await world.day('2026-02-01', people);
  await world.active('2026-02-01', ['user_01ADA00000', 'user_01BOB00000']);
  await world.prices(['2026-01-01', null, 'EUR', 10]);
  await world.teams(['user_01BOB00000', '2026-01-01', '9999-12-31', 'Core', 'bob@example.com']);
  await world.issue('0.csv');
  const salt = 'a long enough salt for the tests';
  const env = { DAYWALK_WAREHOUSE: world.location, DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: salt };
  const call = (users: string, ...args: string[]) =>
    daywalkInProcess(args, { env: { ...env, DAYWALK_USERS: users } });
  const done = await call('keep', 'erase', '--user', 'user_01BOB00000', '--leave-joined');
  expect(done.code, done.stderr).toBe(0);
  const hash = { mode: 'hash', salt } as const;
  const erased = await world.issue('1.csv', { corrects: ['0.csv'], emails: hash });
  expect([erased.total.rows, erased.month_total.rows]).toEqual([0, 2]);
  await world.day('2026-02-01', { ...people, 'user_01BOB00000/atlas': 7 });
  expect((await call('pseudonym', 'privacy', 'apply', '--yes')).code).toBe(0);
  const emails = { ...hash, users: 'pseudonym' } as const;
  const corrected = await world.issue('2.csv', { corrects: ['0.csv'], emails });
  expect(corrected.corrections).toMatchObject({ restated: { rows: 1 }, reassigned: { rows: 0 } });
  expect(readFileSync(world.path('2.csv'), 'utf8')).not.toMatch(/user_01|bob/);
});

test('both databases write the same bytes', async ({ skip }) => {
  const [first, second] = databases;
  skip(first?.missing !== null || second?.missing !== null, 'it needs both databases');
  const filesOf = async (database: Database) => {
    const world = await focusWorld(database);
    await world.day('2026-02-01', { 'b/é': 1, 'B/z': 2, 'a/Z': 0.1, 'ä/m': 1e9 }, 7);
    await world.prices(['2026-01-01', null, 'USD', 0.07]);
    const names = ['a.csv', 'a.parquet'];
    for (const name of names) await world.issue(name);
    return names.map((name) => readFileSync(world.path(name), 'base64'));
  };
  const [files, ...others] = await Promise.all(databases.map(filesOf));
  expect(others).toEqual([files]);
});

test('DuckDB reads the same sums from CSV and Parquet, with numbers and times as such', async () => {
  const world = await focusWorld();
  await world.day('2026-02-01', { 'ada/atlas': 2_000_000, 'bob/atlas': 3 }, 1_999_999);
  await world.prices(['2026-01-01', null, 'EUR', 12.5]);
  await world.issue('f.csv');
  await world.issue('f.parquet');
  const read = (name: string) =>
    ask(`SELECT count(*), sum(ConsumedQuantity), sum(BilledCost), typeof(any_value(BilledCost)), count(ResourceId),
      epoch(min(ChargePeriodStart)), epoch(max(ChargePeriodEnd))
      FROM '${world.path(name)}'`);
  const expected = [
    [3n, 1_999_999, 24.9999875, 'DOUBLE', 2n, Date.UTC(2026, 1, 1) / 1000, Date.UTC(2026, 1, 2) / 1000],
  ];
  expect(await read('f.csv')).toEqual(expected);
  expect(await read('f.parquet')).toEqual(expected);
});

test('names that a spreadsheet takes for formulas are made safe, negative numbers are not, and both are read back', async () => {
  const world = await focusWorld();
  const names = ['=cmd()', "'=x", '-1+1', '@SUM', 'a "quoted", b\nnext', '\u001b[31mred', "it's"];
  await world.day('2026-02-01', Object.fromEntries(names.map((name) => [`${name}/+m`, 5])), 1);
  await world.prices(['2026-01-01', null, 'EUR', 1]);
  await world.teams(...names.map((name) => [name, '2026-01-01', '9999-12-31', name, name] as const));
  await world.issue('f.csv');
  const cells = world.rows('f.csv').flatMap((row) => Object.values(row));
  expect(cells.filter((cell) => /^[=+@\-\t\r]/.test(cell) && Number.isNaN(Number(cell)))).toEqual([]);
  expect(cells).toEqual(
    expect.arrayContaining(["'=cmd()", "''=x", "'-1+1", "'+m", '-34.0', 'a "quoted", b\nnext']),
  );
  expect((await world.issue('c.csv', { corrects: ['f.csv'] })).total.rows).toBe(0);
});

test('a file is private, and the same command again leaves it as it is', async () => {
  const world = await focusWorld();
  await world.day('2026-02-01', { 'ada/atlas': 5 });
  await world.prices(['2026-01-01', null, 'EUR', 1]);
  expect(await world.issue('f.csv')).toMatchObject({ is_unchanged: false });
  const before = statSync(world.path('f.csv'));
  expect(before.mode & 0o777).toBe(0o600);
  expect(await world.issue('f.csv')).toMatchObject({ is_unchanged: true });
  expect(statSync(world.path('f.csv')).ino).toBe(before.ino);
});

test('days that are missing or not settled are named', async () => {
  const world = await focusWorld();
  for (let day = 1; day <= 26; day += 1)
    await world.day(`2026-02-${String(day).padStart(2, '0')}`, { 'ada/atlas': 5 });
  await world.prices(['2026-01-01', null, 'EUR', 1]);
  const { days, warnings } = await world.issue('f.csv');
  expect(days).toEqual({ expected: 28, settled: 26, unsettled: [], missing: ['2026-02-27', '2026-02-28'] });
  expect(warnings).toContain('2 of 28 days are not stored and not in the file: 2026-02-27, 2026-02-28');
});

test('a month without tokens is a file without rows, which may be corrected', async () => {
  const world = await focusWorld();
  await world.day('2026-03-01', { 'ada/atlas': 5 });
  for (const name of ['f.csv', 'f.parquet']) {
    expect(await world.issue(name)).toMatchObject({ currency: null, total: { rows: 0 } });
  }
  await world.day('2026-02-01', { 'ada/atlas': 1_000_000 });
  await world.prices(['2026-01-01', null, 'EUR', 1]);
  for (const name of ['f.csv', 'f.parquet']) {
    expect(await world.issue(`c-${name}.csv`, { corrects: [name] })).toMatchObject({
      total: { rows: 1, cost: 1 },
    });
  }
});

test('a day that only the charges have is named beside the metric', async () => {
  const world = await focusWorld();
  await world.prices(['2026-01-01', null, 'EUR', 2]);
  await world.day('2026-02-02', { 'ada/atlas': 5 });
  await world.day('2026-02-03', { 'ada/atlas': 7 });
  await world.active('2026-02-02', ['ada']);
  await world.execute('UPDATE user_daily SET billable_tokens = 5');
  await world.refresh();
  const { warnings } = await world.issue('0.csv');
  expect(warnings).toContain('metric cost: days without rows of users are not in it: 2026-02-03');
});
