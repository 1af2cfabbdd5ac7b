import { type Dimension, dimensionsOf, isGrain, type Metric } from '../../../schema/metrics/define.ts';
import { allMetrics } from '../../../schema/metrics/dictionary.ts';
import { LEFT_OUT } from '../../../src/bi/dbt/semantic.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { isClose } from './equal-rows.ts';
import { type FlowQuestion, type FlowRow, flowNames, numberIn } from './metricflow.ts';

/** A metric in one of its cuts, and its name in MetricFlow. */
interface Part {
  readonly metric: Metric;
  readonly by: Dimension | undefined;
  readonly name: string;
}

/** A question for MetricFlow, and what its columns answer. */
export type CheckedQuestion = FlowQuestion & { readonly parts: readonly Part[] };

/** Questions for every metric in total and by each of its dimensions, as few as possible. */
export function flowQuestions(): readonly CheckedQuestion[] {
  const parts = allMetrics.filter(({ name }) => LEFT_OUT[name] === undefined).flatMap(partsOf);
  const groups = [...new Set(parts.map(({ groupBy }) => groupBy))];
  return groups.map((groupBy) => {
    const own = parts.filter((part) => part.groupBy === groupBy);
    return {
      metrics: own.map(({ name }) => name),
      ...(groupBy !== undefined && { groupBy }),
      parts: own,
    };
  });
}

function partsOf(metric: Metric): readonly (Part & { readonly groupBy: string | undefined })[] {
  const cuts =
    metric.measure.kind === 'snapshot' ? (['date'] as const) : [undefined, ...dimensionsOf(metric)];
  return cuts.map((by) => {
    if (by === undefined) return { metric, by, name: metric.name, groupBy: undefined };
    const { metric: name, groupBy } = flowNames(metric, by);
    return { metric, by, name, groupBy };
  });
}

/** Compares answers of MetricFlow with `daywalk metric`. */
export async function flowDifferences(asked: {
  warehouse: Warehouse;
  orgId: string;
  questions: readonly CheckedQuestion[];
  answers: readonly (readonly FlowRow[])[];
}): Promise<{ readonly wrong: readonly string[]; readonly compared: number }> {
  const { warehouse, orgId, questions, answers } = asked;
  const wrong: string[] = [];
  let compared = 0;
  for (const [index, { groupBy, parts }] of questions.entries()) {
    for (const { metric, by, name } of parts) {
      const found = valuesOf(answers[index] ?? [], { name, groupBy, by });
      const question = { metric: metric.name, by: by === undefined ? [] : [by], orgId };
      const { rows } = await answerMetric(warehouse, question);
      const expected = new Map(rows.map((row) => [String((by && row[by]) ?? ''), row.value]));
      for (const key of new Set([...found.keys(), ...expected.keys()])) {
        if (!isSame(found.get(key), expected.get(key))) {
          wrong.push(`${name} by ${by}, ${key}: ${found.get(key)} instead of ${expected.get(key)}`);
        }
      }
      compared += 1;
    }
  }
  return { wrong, compared };
}

/** MetricFlow has no number where nothing occurs, also where the metric is 0. */
function isSame(found: number | undefined, expected: number | null | undefined): boolean {
  if (found === undefined) return expected === null || expected === undefined || expected === 0;
  return isClose(found, expected);
}

/** The values of a column by dimension. Of several metrics, each has a row of its own for NULL. */
function valuesOf(
  rows: readonly FlowRow[],
  { name, groupBy, by }: { name: string; groupBy: string | undefined; by: Dimension | undefined },
): ReadonlyMap<string, number> {
  const length = by === 'month' ? 7 : 10;
  return new Map(
    rows.flatMap((row) => {
      const key = groupBy === undefined ? '' : (row[groupBy] ?? '');
      const value = numberIn(row[name]);
      return value === null
        ? []
        : [[by !== undefined && isGrain(by) ? key.slice(0, length) : key, value] as const];
    }),
  );
}
