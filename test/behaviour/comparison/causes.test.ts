import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Value } from '../../../schema/row.ts';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import { storePeople, storePrices, storeUsers } from '../../support/metrics/small-world.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { type Database, type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** Monday to Friday, and the week before. */
const [FROM, UNTIL, BEFORE, END] = ['2026-03-09', '2026-03-13', '2026-03-02', '2026-03-06'];
const PERIOD = ['--from', FROM, '--until', UNTIL, '--json'];
const EUR = { valid_from: '2026-01-01', valid_to: null, currency: 'EUR', price_per_million: 100_000 };

/** A user of a day: credits, and the raw tokens of each model with their credits. */
interface Use {
  readonly user: string;
  readonly credits: number;
  readonly models: Readonly<Record<string, readonly [tokens: number | null, credits: number]>>;
}

async function store(warehouse: Held, day: string, uses: readonly Use[]): Promise<void> {
  await storeUsers(
    warehouse,
    day,
    uses.map(({ user, credits }) => ({ user_id: user, billable_tokens: credits })),
  );
  // Input, output and cache reads have a part of the tokens each; cache writes are NULL.
  const rows = uses.flatMap(({ user, models }) =>
    Object.entries(models).map(([model, [tokens, credits]]): Value[] => {
      const part = tokens === null ? null : tokens / 4;
      return [user, model, null, credits, part, part, part === null ? null : 2 * part, null, null];
    }),
  );
  await commitDay(warehouse, commitOf({ stream: 'tokens', day, rows: { tokens_daily_by_user_model: rows } }));
}

/**
 * Two weeks without the weekend between: ann alone before, ann and bob now. Model m has 10 tokens for each credit; bob has 40 credits
 * a day that no model has.
 */
async function twoWeeks(database: Database, { without = '' }: { without?: string } = {}): Promise<Held> {
  const warehouse = await open(database);
  const spans: [string, string, Use[]][] = [
    [BEFORE, END, [{ user: 'ann', credits: 100, models: { m: [1000, 100] } }]],
    [
      FROM,
      UNTIL,
      [
        { user: 'ann', credits: 150, models: { m: [1000, 100], n: [null, 50] } },
        { user: 'bob', credits: 140, models: { m: [1000, 100] } },
      ],
    ],
  ];
  for (const [first, last, uses] of spans)
    for (const day of daysFrom(parseDay(first), parseDay(last)))
      if (day !== without) await store(warehouse, day, uses);
  await storePeople(warehouse, [{ person: 'ann', valid_from: '2026-01-01', valid_to: null, team: 'core' }]);
  return warehouse;
}

const daywalk = ({ place }: Held, ...args: string[]) =>
  daywalkInProcess(args, { env: { DAYWALK_WAREHOUSE: place.location } });

const causes = async (warehouse: Held, ...args: string[]) => {
  const { code, stdout, stderr } = await daywalk(warehouse, 'metric', 'causes', ...PERIOD, ...args);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

const valuesOf = ({ rows }: { rows: { cause: string; value: number }[] }) =>
  Object.fromEntries(rows.map(({ cause, value }) => [cause, value]));

onEachDatabase((database) => {
  it('the causes add up to the change of the metric cost, and name both spans', async () => {
    const warehouse = await twoWeeks(database);
    await storePrices(warehouse, [EUR]);
    const answer = await causes(warehouse);
    expect(answer).toMatchObject({
      ...{ metric: 'causes', org_id: 'org_1', unit: 'EUR', from: FROM, until: UNTIL, warnings: [] },
      ...{ value: expect.closeTo(145, 9), before: expect.closeTo(50, 9), change: expect.closeTo(95, 9) },
      compared: { from: BEFORE, until: END, why_not: null },
    });
    expect(answer.rows[0]).toEqual({
      ...{ cause: 'working days', value: 0, factor: 5, factor_before: 5, from: FROM, until: UNTIL },
    });
    expect(valuesOf(answer)).toEqual({
      'working days': 0,
      people: expect.closeTo(50, 9),
      use: expect.closeTo(0, 9),
      'choice of models': expect.closeTo(25, 9),
      'credits per token': expect.closeTo(0, 9),
      price: expect.closeTo(0, 9),
      'rows without a model': expect.closeTo(20, 9),
    });
    const cost = JSON.parse((await daywalk(warehouse, 'metric', 'cost', ...PERIOD, '--compare')).stdout);
    expect(cost.rows[0]).toMatchObject({ value: expect.closeTo(145, 9), before: expect.closeTo(50, 9) });
  });

  it('the price of each day counts, a closed day is no working day, and a team has causes of its own', async () => {
    const warehouse = await twoWeeks(database);
    await storePrices(warehouse, [
      { ...EUR, valid_to: '2026-03-08' },
      { ...EUR, valid_from: '2026-03-09', price_per_million: 200_000 },
    ]);
    const folder = tempDir();
    const file = join(folder, 'events.csv');
    writeFileSync(
      file,
      `date,text,team,closed\n${FROM},Holiday,,yes\n2026-03-10,Offsite,core,yes\n2026-03-11,News,,\n`,
    );
    expect((await daywalk(warehouse, 'events', 'load', file)).code).toBe(0);
    const all = await causes(warehouse);
    expect(all.rows[0]).toMatchObject({ factor: 4, factor_before: 5 });
    expect(all.rows[0].value).toBeLessThan(0);
    const own = await causes(warehouse, '--team', 'core');
    expect(own).toMatchObject({ before: expect.closeTo(50, 9), value: expect.closeTo(150, 9) });
    const { price, people, 'working days': days } = valuesOf(own);
    expect(price).toBeCloseTo(50, 9);
    expect((people ?? 0) + (days ?? 0)).toBeCloseTo(0, 9);
  });
});

it('without a price for every day with credits the causes are those of credits, and the answer says so', async () => {
  const warehouse = await twoWeeks(sqlite);
  for (const prices of [[], [{ ...EUR, valid_to: '2026-03-10' }]]) {
    await storePrices(warehouse, prices);
    const answer = await causes(warehouse);
    expect(answer).toMatchObject({ unit: 'credits', value: 1450, before: 500, change: 950 });
    expect(valuesOf(answer)).not.toHaveProperty('price');
    expect(answer.warnings).toEqual([expect.stringContaining('the price is no cause of it')]);
  }
  await storePrices(warehouse, [{ ...EUR, valid_from: '2026-03-11', currency: 'USD' }]);
  const refused = await daywalk(warehouse, 'metric', 'causes', ...PERIOD);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain('prices in EUR and USD');
});

it('weekends have no working day and count their days', async () => {
  const warehouse = await open(sqlite);
  for (const day of ['2026-03-07', '2026-03-08', '2026-03-14', '2026-03-15'])
    await store(warehouse, day, [{ user: 'ann', credits: 100, models: { m: [1000, 100] } }]);
  const { rows } = await causes(warehouse, '--from', '2026-03-14', '--until', '2026-03-15');
  expect(rows[0]).toMatchObject({ factor: 2, factor_before: 2 });
});

it('nothing is explained if a day is missing or people are not kept, and the answer says why', async () => {
  const missing = await causes(await twoWeeks(sqlite, { without: '2026-03-04' }));
  expect(missing.compared.why_not).toBe('1 day is missing, so the spans cannot be compared');
  const warehouse = await twoWeeks(sqlite);
  await warehouse.place.execute(
    "UPDATE export_units SET state = 'expired' WHERE stream = 'users' AND date = '2026-03-04'",
  );
  const expired = await causes(warehouse);
  expect(expired.compared.why_not).toBe('rows about people before 2026-03-05 have expired');
  for (const { rows, change, value } of [missing, expired]) {
    expect(rows).toHaveLength(7);
    expect(rows.every((row: { value: unknown }) => row.value === null)).toBe(true);
    expect([change, value]).toEqual([null, null]);
  }
});

it('without days the period is the month to date, and what the causes do not have is refused', async () => {
  const warehouse = await twoWeeks(sqlite);
  const { stdout } = await daywalk(warehouse, 'metric', 'causes', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ from: '2026-03-01', until: UNTIL });
  for (const args of [['--by', 'team'], ['--user', 'ann'], ['--sql']]) {
    const { code, stderr } = await daywalk(warehouse, 'metric', 'causes', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(`causes has no ${args[0]}`);
  }
});

it('the screen and the CSV have a line for each cause', async () => {
  const warehouse = await twoWeeks(sqlite);
  await storePrices(warehouse, [EUR]);
  const asked = ['metric', 'causes', '--from', FROM, '--until', UNTIL];
  const { stdout } = await daywalk(warehouse, ...asked);
  expect(stdout).toMatch(/^CAUSE +CHANGE \(EUR\) +FROM +TO\nworking days +0 +5 +5\npeople +50 +1 +2\n/);
  expect(stdout).toMatch(/\nprice +0 +100,000 +100,000\n.*\nchange +95 /);
  expect(stdout).toContain(`compared with ${BEFORE} to ${END}`);
  const csv = await daywalk(warehouse, ...asked, '--csv');
  expect(csv.stdout).toContain('cause,value,factor_before,factor,from,until\nworking days,0,5,5,');
});
