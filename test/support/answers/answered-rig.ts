import { parseDay } from '../../../src/core/day.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import type { MetricQuestion } from '../../../src/metrics/question.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { FakeClock } from '../clock/fake-clock.ts';
import { createRig, type Rig, rigOver } from '../rig/rig.ts';
import type { Database, Found } from '../warehouse/each-database.ts';
import { insertRows } from '../warehouse/insert-rows.ts';

const TODAY = parseDay('2026-02-20');
// Everyone is active every day, so that no day lacks a row.
const SERVER = { users: 12, steady: true, reports: 20, today: TODAY, quirks: { cacheFields: true } };

/** Somebody who never was active, and two teams. One of the people changes teams. */
async function loadPeople({ place }: Rig, orgId: string): Promise<void> {
  const users = await place.query<{ user_id: string }>(
    'SELECT DISTINCT user_id FROM user_daily ORDER BY user_id',
  );
  const person = (name: string, team: string, valid_from: string, valid_to: string | null = null) => ({
    org_id: orgId,
    person: name,
    valid_from,
    valid_to,
    team,
  });
  const rows = users
    .slice(1)
    .map(({ user_id }, index) => person(user_id, index % 2 === 0 ? 'blue' : 'red', '2026-02-02'));
  const first = users
    .slice(0, 1)
    .flatMap(({ user_id }) => [
      person(user_id, 'red', '2026-01-14', '2026-02-01'),
      person(user_id, 'blue', '2026-02-02'),
    ]);
  await insertRows(place, 'people', [...first, ...rows, person('nobody@example.com', 'blue', '2026-01-14')]);
  await insertRows(place, 'prices', [
    { org_id: orgId, valid_from: '2026-01-14', currency: 'EUR', price_per_million: 2.5 },
  ]);
  await insertRows(place, 'budgets', [
    { org_id: orgId, month: '2026-02', team: 'blue', amount: 1_000, currency: 'EUR' },
  ]);
}

/** A warehouse with people, prices and a restated day, in each of the databases, filled from one service. */
export async function answeredRigs(databases: readonly Database[]): Promise<readonly AnsweredRig[]> {
  const first = await createRig(SERVER);
  const rigs = databases.map((database) => rigOver(first.emulator, database.place(), TODAY));
  for (const rig of rigs) {
    await rig.run();
    await loadPeople(rig, first.emulator.orgId);
  }
  first.emulator.revise({ kind: 'restate', day: parseDay('2026-02-18') });
  // This run also computes the teams from the people.
  for (const rig of rigs) await rig.run();
  return rigs.map((rig) => ({ ...rig, orgId: first.emulator.orgId }));
}

/** A rig and its organization. */
export type AnsweredRig = Rig & { readonly orgId: string };

/** Opens the warehouse of a rig for answers. */
export async function withAnswers<Result>(
  { place }: Rig,
  use: (warehouse: Warehouse) => Promise<Result>,
): Promise<Result> {
  const warehouse = await openWarehouse(place.location, {
    clock: new FakeClock({ auto: true }),
    create: false,
  });
  try {
    return await use(warehouse);
  } finally {
    await warehouse.close();
  }
}

/** The rows of an answer. */
export async function answerRows(
  warehouse: Warehouse,
  question: MetricQuestion,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await answerMetric(warehouse, question)).rows;
}

/** Digits in which sums of fractions agree, though the databases add them up in different orders. */
const DIGITS = 12;

/** Rows whose numbers can be compared between databases. */
export function comparable(rows: readonly Readonly<Record<string, unknown>>[]): Found[] {
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'number' ? Number(value.toPrecision(DIGITS)) : (value as Found[string]),
      ]),
    ),
  );
}
