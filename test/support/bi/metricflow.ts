import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { type Dimension, isGrain, type Metric } from '../../../schema/metrics/define.ts';
import { LEFT_OUT, semanticRows } from '../../../src/bi/dbt/semantic.ts';
import { type DbtProject, run } from './dbt.ts';
import { COMPARED, isOfOneDay, type NumberSource, OCTOBER } from './october.ts';

/** A question for MetricFlow: metrics by at most one dimension. */
export interface FlowQuestion {
  readonly metrics: readonly string[];
  /** As MetricFlow names it; without one, there is one row. */
  readonly groupBy?: string;
  readonly from?: string;
  readonly until?: string;
}

/** A row of an answer: texts, '' for NULL. */
export type FlowRow = Readonly<Record<string, string>>;

/** Asks MetricFlow several questions by its program, in one process. */
export async function askMetricflow(
  project: DbtProject,
  questions: readonly FlowQuestion[],
): Promise<readonly (readonly FlowRow[])[]> {
  const fileOf = (index: number) => join(project.directory, `answer-${index}.csv`);
  const commands = questions.map(({ metrics, groupBy, from, until }, index) => [
    ...['query', '--metrics', metrics.join(','), '--csv', fileOf(index)],
    ...(groupBy === undefined ? [] : ['--group-by', groupBy]),
    ...(from === undefined ? [] : ['--start-time', from]),
    ...(until === undefined ? [] : ['--end-time', until]),
  ]);
  const path = join(project.directory, 'commands.json');
  writeFileSync(path, JSON.stringify(commands));
  const script = join(import.meta.dirname, 'metricflow-queries.py');
  const { code, output } = await run(project, 'python', [script, path]);
  const successes = output.match(/Success .* query completed/g)?.length ?? 0;
  if (code !== 0 || successes !== questions.length) throw new Error(`mf query: ${code}\n${output}`);
  return questions.map((_, index) => parse(readFileSync(fileOf(index)), { columns: true }));
}

/** The name of a dimension of a metric in MetricFlow, and that of the metric where the dimension is. */
export function flowNames(
  metric: Metric,
  by: Dimension,
): { readonly metric: string; readonly groupBy: string } {
  const { name, source, breakdown } = metric;
  if (isGrain(by)) return { metric: name, groupBy: `metric_time__${by === 'date' ? 'day' : by}` };
  if (by === 'team') return { metric: name, groupBy: 'team' };
  if (by === 'user') return { metric: name, groupBy: 'user_id' };
  if (breakdown === undefined || source.columns[by] !== undefined) {
    return { metric: name, groupBy: `${semanticRows(source).row}__${by}` };
  }
  const [part = ''] = Object.keys(breakdown.columns);
  return { metric: `${name}_by_${part}`, groupBy: `${semanticRows(breakdown).row}__${by}` };
}

/** The number of a cell; null for none. */
export function numberIn(cell: string | undefined): number | null {
  return cell === undefined || cell === '' ? null : Number(cell);
}

/** The numbers of October, or of its last day, as MetricFlow has them. */
export async function metricflowNumbers(name: string, project: DbtProject): Promise<NumberSource> {
  const asked = COMPARED.filter((metric) => LEFT_OUT[metric] === undefined);
  const [month = [], day = []] = await askMetricflow(project, [
    { metrics: asked.filter((metric) => !isOfOneDay(metric)), groupBy: 'metric_time__month' },
    { metrics: asked.filter(isOfOneDay), groupBy: 'metric_time__day' },
  ]);
  const october = month.find((row) => row['metric_time__month']?.startsWith(OCTOBER.month));
  const lastDay = day.find((row) => row['metric_time__day']?.startsWith(OCTOBER.until));
  return {
    name,
    leftOut: COMPARED.filter((metric) => LEFT_OUT[metric] !== undefined),
    valueIn: async (metric) => numberIn((isOfOneDay(metric) ? lastDay : october)?.[metric]),
  };
}
