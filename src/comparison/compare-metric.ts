import { type Dimension, isGrain } from '../../schema/metrics/dictionary.ts';
import type { UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { contractOf } from '../expected/index.ts';
import {
  answerMetric,
  type CoveredDays,
  findMetric,
  type MetricAnswer,
  type MetricQuestion,
  type MetricRow,
  type Period,
} from '../metrics/index.ts';
import { frozen, runReads, type Warehouse } from '../port/index.ts';
import { type Comparison, comparedSpan, isKeptIn, NO_SPAN_BEFORE, whyNotCompared } from './span.ts';

/** The span of a comparison, and what it rests on. All of it is null if there is no such span. */
export interface ComparedWith {
  readonly from: UtcDay | null;
  readonly until: UtcDay | null;
  readonly days: CoveredDays | null;
  readonly run_id: string | null;
  /** Why there is no comparison, as a clause; null if there is one. */
  readonly why_not: string | null;
}

const NO_SPAN: ComparedWith = { from: null, until: null, days: null, run_id: null, why_not: NO_SPAN_BEFORE };

/**
 * A metric over two spans, as `daywalk metric --compare --json` prints it. Each row has two more numbers: `before`, and
 * `change`, relative to `before`; of a share, their difference. Both are null where there is nothing to compare. Groups of the
 * span before that are not in the period any more follow the others.
 */
export interface ComparedAnswer extends MetricAnswer {
  readonly compared: ComparedWith;
}

/**
 * Answers a question, and the same question about the span that it is compared with, from one snapshot of the warehouse. Do not
 * call it inside another snapshot.
 * @param comparison how that span is found, or the span itself
 * @throws {UsageError} as `answerMetric` does, and for a question by date, week or month.
 */
export function compareMetric(
  warehouse: Warehouse,
  question: MetricQuestion,
  comparison: Comparison | Period,
): Promise<ComparedAnswer> {
  return warehouse.inSnapshot(() => compareIn(frozen(warehouse), question, comparison));
}

/** As {@link compareMetric}, inside a snapshot. */
export async function compareIn(
  warehouse: Warehouse,
  question: MetricQuestion,
  comparison: Comparison | Period,
): Promise<ComparedAnswer> {
  const grain = question.by.find(isGrain);
  if (grain !== undefined) {
    throw new UsageError(`spans cannot be compared by ${grain}`, {
      hint: 'compare without date, week and month, or ask about both spans one after the other',
    });
  }
  const now = await answerMetric(warehouse, question);
  const { firstDay } = await runReads(warehouse, contractOf(question.orgId));
  const span = typeof comparison === 'string' ? comparedSpan(now, comparison, { firstDay }) : comparison;
  const then = span === null ? null : await answerMetric(warehouse, { ...question, ...span });
  if (then === null) return { ...now, rows: comparedRows(now, null, question.by), compared: NO_SPAN };
  const { from, until, days, run_id } = then;
  const why_not = whyNotCompared(now, then);
  return {
    ...now,
    rows: comparedRows(now, why_not === null ? then : null, question.by),
    warnings: [
      ...now.warnings,
      ...then.warnings
        .filter((own) => !now.warnings.includes(own))
        .map((own) => `of the span from ${from} to ${until}: ${own}`),
    ],
    compared: { from, until, days, run_id, why_not },
  };
}

function comparedRows(now: MetricAnswer, then: MetricAnswer | null, by: readonly Dimension[]): MetricRow[] {
  const nameOf = (row: MetricRow) => JSON.stringify(by.map((dimension) => row[dimension]));
  const before = new Map(then?.rows.map((row) => [nameOf(row), row]));
  const known = new Set(now.rows.map(nameOf));
  const gone = then === null ? [] : then.rows.filter((row) => !known.has(nameOf(row)));
  return [...now.rows, ...gone.map((row): MetricRow => ({ ...row, value: ofNothing(now) }))].map((row) => {
    const was = then === null ? null : (before.get(nameOf(row)) ?? { value: ofNothing(then) }).value;
    return { ...row, before: was, change: changeFrom(was, row.value, now.unit) };
  });
}

/** What a group has that does not occur in a span of which each day is stored: nothing was counted, and no ratio is known. */
function ofNothing(answer: MetricAnswer): number | null {
  const { kind } = findMetric(answer.metric).measure;
  return isKeptIn(answer) && !['ratio', 'snapshot', 'readiness score'].includes(kind) ? 0 : null;
}

/** See {@link ComparedAnswer}. */
export function changeFrom(before: number | null, value: number | null, unit: string): number | null {
  if (before === null || value === null) return null;
  if (unit === 'ratio') return value - before;
  return before === 0 ? null : (value - before) / before;
}
