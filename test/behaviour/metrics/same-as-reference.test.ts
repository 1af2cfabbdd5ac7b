// @module-tag campaign/metrics

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AnyTable } from '../../../schema/define.ts';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { readerOf, type Values } from '../../../schema/row.ts';
import { UsageError } from '../../../src/core/errors.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import type { MetricQuestion, MetricRow } from '../../../src/metrics/question.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { addDays } from '../../support/metrics/calendar.ts';
import { type Facts, factsOf } from '../../support/metrics/facts.ts';
import { randomQuestion } from '../../support/metrics/random-questions.ts';
import { type RandomWorld, randomWorld, type WorldSize } from '../../support/metrics/random-world.ts';
import { definitions, referenceAnswer } from '../../support/metrics/reference.ts';
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
