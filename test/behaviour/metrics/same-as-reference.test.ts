// @module-tag campaign/metrics

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AnyTable } from '../../../schema/define.ts';
import { additivityOf, allMetrics, isGrain } from '../../../schema/metrics/dictionary.ts';
import { readerOf, type Values } from '../../../schema/row.ts';
import { rankMetric } from '../../../src/comparison/rank-metric.ts';
import { UsageError } from '../../../src/core/errors.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import type { MetricQuestion, MetricRow } from '../../../src/metrics/question.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { addDays } from '../../support/metrics/calendar.ts';
import { type Facts, factsOf } from '../../support/metrics/facts.ts';
import { randomQuestion } from '../../support/metrics/random-questions.ts';
import { type RandomWorld, randomWorld, type WorldSize } from '../../support/metrics/random-world.ts';
import {
  definitions,
  referenceAnswer,
  referenceFilter,
  referenceRest,
} from '../../support/metrics/reference.ts';
import { referenceProvenance } from '../../support/metrics/reference-provenance.ts';
import { pick, SEED, sequence } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';
import { type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const WORLDS = answersMax(500, 4);
const QUESTIONS = 25;
const NOW = new Date('2026-06-01T03:00:00.000Z');

it('every metric has a reference', () => {
  expect(Object.keys(definitions).toSorted()).toEqual(allMetrics.map(({ name }) => name).toSorted());
});

onEachDatabase((database) => {
  it(`every metric is the one that plain JavaScript computes over the rows (seed ${SEED})`, async () => {
    const warehouse = await open(database);
    const size = fc.record({
      seed: fc.nat(1_000_000),
      users: fc.integer({ min: 1, max: 4 }),
      days: fc.integer({ min: 1, max: 45 }),
    });
    let count = 0;
    const asked = new Set<string>();
    await fc.assert(
      fc.asyncProperty(size, async (chosen) => {
        count += 1;
        const world = randomWorld(`org ${count}`, chosen);
        const random = sequence(chosen.seed + 1);
        await store(
          warehouse,
          { chosen, world },
          pick(random, ['current', 'partly stale', 'stale', 'absent']),
        );
        const facts = await factsOf(warehouse, world.orgId);
        for (let index = 0; index < QUESTIONS; index += 1) {
          const question = randomQuestion(world, random);
          asked.add(question.metric);
          await check(warehouse, facts, question);
          await checkRanked(warehouse, facts, filtered(facts, question, random), random);
        }
      }),
      { numRuns: WORLDS, seed: SEED },
    );
    expect(asked.size).toBeGreaterThan(allMetrics.length / 2);
  });
});

interface Stored {
  readonly chosen: WorldSize;
  readonly world: RandomWorld;
}

/** Stores a world, with rollups of its rows, of its rows except those of its second half, of other rows, or without. */
async function store(
  warehouse: Held,
  { chosen, world }: Stored,
  rollups: 'current' | 'partly stale' | 'stale' | 'absent',
): Promise<void> {
  const { orgId, firstDay, rows } = world;
  if (rollups === 'stale') {
    const earlier = randomWorld(orgId, { ...chosen, seed: chosen.seed + 1 });
    await changeRows(warehouse, { put: earlier.rows, remove: [] });
    await refreshRollups(warehouse, { orgId, now: NOW });
    await changeRows(warehouse, { put: [], remove: earlier.rows });
  }
  if (rollups === 'partly stale') {
    const early = rows.map((part) => ({
      ...part,
      rows: part.rows.filter(isBefore(part.table, addDays(firstDay, Math.ceil(chosen.days / 2)))),
    }));
    await changeRows(warehouse, { put: early, remove: [] });
    await refreshRollups(warehouse, { orgId, now: NOW });
  }
  await changeRows(warehouse, { put: rows, remove: [] });
  if (rollups === 'current') await refreshRollups(warehouse, { orgId, now: NOW });
}

/** True for the rows of a table that belong to no day, or to one before `day`. */
function isBefore(table: AnyTable, day: string): (row: Values) => boolean {
  if (!('date' in table.columns)) return () => true;
  const dateOf = readerOf(table, 'date');
  return (row) => String(dateOf(row)) < day;
}

async function check(warehouse: Held, facts: Facts, question: MetricQuestion): Promise<void> {
  const label = JSON.stringify(question);
  const sources = referenceProvenance(facts, question);
  const { from, until } = sources;
  const expected = referenceAnswer(facts, { ...question, from, until });
  const found = await answerMetric(warehouse, question).catch(refusalOf);
  if (expected === 'refused' || found === 'refused') {
    expect(found, label).toBe(expected);
    return;
  }
  const { days, run_id } = found;
  expect({ from: found.from, until: found.until, days, run_id }, label).toEqual(sources);
  expect(withEqualNumbers(found.rows, expected), label).toEqual(expected);
}

/** A question with a condition on one of its dimensions, where a row meets one. */
function filtered(facts: Facts, question: MetricQuestion, random: () => number): MetricQuestion {
  if (random() < 0.5) return question;
  const { from, until } = referenceProvenance(facts, question);
  const choose = (count: number) => Math.floor(random() * count);
  return { ...question, where: referenceFilter(facts, { ...question, from, until }, choose) };
}

/** The largest rows, what is left of them, and the total are those of plain JavaScript. */
async function checkRanked(
  warehouse: Held,
  facts: Facts,
  question: MetricQuestion,
  random: () => number,
): Promise<void> {
  const label = JSON.stringify(question);
  const { from, until } = referenceProvenance(facts, question);
  const asked = { ...question, from, until };
  const expected = referenceAnswer(facts, asked);
  const top = 1 + Math.floor(random() * 3);
  const found = await rankMetric(warehouse, { ...question, together: undefined }, { top }).catch(refusalOf);
  if (expected === 'refused' || found === 'refused') return expect(found, label).toBe(expected);
  const { rows, others, total } = found;
  const sizeOf = ({ value }: MetricRow) => value ?? Number.NEGATIVE_INFINITY;
  const sorted = expected.toSorted((a, b) => sizeOf(b) - sizeOf(a) || 0);
  expect(rows.map(({ value }) => value ?? null).map(rounded), label).toEqual(
    sorted.slice(0, top).map(({ value }) => rounded(value)),
  );
  const metric = allMetrics.find(({ name }) => name === question.metric);
  const rule = metric === undefined ? undefined : additivityOf(metric);
  const rest = expected.filter((row) => !rows.some((own) => isSameGroup(own, row, question.by)));
  expect(others?.count ?? 0, label).toBe(rest.length);
  if (others !== null) {
    const hasState = rule === 'end of period' && question.by.some(isGrain);
    const isUnknown = rest.every(({ value }) => value === null) || rule === 'one day only' || hasState;
    const value = isUnknown ? null : referenceRest(facts, asked, rows);
    // Days without a row are 0, so that those and rows without a number add up to 0.
    const hasNothing = rule === 'sum' && value === null && others.value === 0;
    expect(rounded(others.value), label).toEqual(hasNothing ? 0 : rounded(value));
  }
  if (rule === 'one day only' && total.value === null) return;
  const whole = referenceAnswer(facts, { ...asked, by: [] });
  if (whole === 'refused') throw new Error(`${label}: the total is refused`);
  expect(rounded(total.value), label).toEqual(rounded(whole[0]?.value ?? null));
}

function isSameGroup(one: MetricRow, other: MetricRow, by: MetricQuestion['by']): boolean {
  return by.every((name) => (one[name] ?? null) === (other[name] ?? null));
}

/** Sums of fractions depend on the order of their parts in the last digits. */
function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(9));
}

/** The only refusal of a question that has all its dimensions: a cost in several currencies. */
function refusalOf(error: unknown): 'refused' {
  if (error instanceof UsageError && /currenc/.test(error.message)) return 'refused';
  throw error;
}

/** Rows whose numbers are replaced by the expected ones where they differ by rounding only. */
function withEqualNumbers(found: readonly MetricRow[], expected: readonly MetricRow[]): MetricRow[] {
  return found.map((row, index) => {
    const { value } = expected[index] ?? row;
    const isClose =
      row.value !== null && value !== null && Math.abs(row.value - value) <= 1e-9 * Math.abs(value);
    return isClose ? { ...row, value } : row;
  });
}
