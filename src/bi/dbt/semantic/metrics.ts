import type { Source } from '../../../../schema/metrics/define.ts';
import { allMetrics, type Metric, type Term } from '../../../../schema/metrics.ts';
import { combiningOf } from '../../dictionary/combining.ts';
import { shownUnit } from '../../dictionary/shown-unit.ts';
import type { BiFile } from '../../files/bi-target.ts';
import { type Yaml, yamlText } from '../../files/yaml.ts';
import { LEFT_OUT } from './left-out.ts';
import { allMeasures, type Measure } from './measures.ts';

/** The metrics: those of the dictionary under their names, and the parts that some of them are made of. */
export function metricFile(): BiFile {
  const dictionary = new Map(allMetrics.map((metric) => [metric.name, metric]));
  const document: Yaml = {
    version: 2,
    metrics: [
      ...allMeasures().map((measure) => simpleMetric(measure, dictionary.get(measure.name))),
      ...sumsOfColumns().map(derivedSum),
      ...allMetrics.flatMap(computedMetric),
    ],
  };
  return { path: 'models/semantic/metrics.yml', text: yamlText(document) };
}

function simpleMetric({ name, title, doc }: Measure, metric: Metric | undefined): Yaml {
  return {
    ...headOf({ name, title, doc }, metric),
    type: 'simple',
    type_params: { measure: name },
  };
}

/** What people see of a metric. */
function headOf({ name, title, doc }: Pick<Metric, 'name' | 'title' | 'doc'>, metric: Metric | undefined) {
  const rule = metric === undefined ? '' : ` ${combiningOf(metric)}`;
  return {
    name,
    label: title,
    description: `${doc}${rule}`,
    ...(metric !== undefined && { config: { meta: { unit: shownUnit(metric) } } }),
  };
}

function computedMetric(metric: Metric): readonly Yaml[] {
  const { measure, source, name } = metric;
  if (LEFT_OUT[name] !== undefined) return [];
  if (measure.kind === 'term' && measure.term.kind === 'cost') {
    return [{ ...headOf(metric, metric), type: 'derived', type_params: COST }];
  }
  if (measure.kind !== 'ratio') return [];
  const { numerator, denominator } = measure;
  return [
    {
      ...headOf(metric, metric),
      type: 'ratio',
      type_params: { numerator: metricOf(source, numerator), denominator: metricOf(source, denominator) },
    },
  ];
}

/** A part without a price makes the whole unknown, and amounts of several currencies are no amount. */
const COST: Yaml = {
  expr: 'case when unpriced_user_days = 0 and cost_currencies <= 1 then cost_of_priced_days end',
  metrics: [{ name: 'cost_of_priced_days' }, { name: 'unpriced_user_days' }, { name: 'cost_currencies' }],
};

/** The name of the metric that is a term over a source. */
function metricOf(source: Source, term: Term): string {
  if (term.kind === 'sum' && term.where !== undefined) return term.where.rollupColumn;
  if (term.kind === 'sum' && term.columns.length > 1) return sumName(term.columns);
  const found = allMetrics.find(
    ({ source: other, measure }) =>
      other === source && measure.kind === 'term' && JSON.stringify(measure.term) === JSON.stringify(term),
  );
  if (found !== undefined) return found.name;
  throw new TypeError(`no metric of ${source.table.name} is ${JSON.stringify(term)}`);
}

const sumName = (columns: readonly string[]) => columns.join('_and_');

/** The sums of several columns that ratios need. */
function sumsOfColumns(): readonly (readonly string[])[] {
  const sums = allMetrics.flatMap(({ measure }) =>
    measure.kind === 'ratio' ? [measure.numerator, measure.denominator] : [],
  );
  const columns = sums.flatMap((term) =>
    term.kind === 'sum' && term.columns.length > 1 ? [term.columns] : [],
  );
  return [...new Map(columns.map((names) => [sumName(names), names])).values()];
}

function derivedSum(columns: readonly string[]): Yaml {
  const title = columns.map((name) => name.replaceAll('_', ' ')).join(' and ');
  return {
    name: sumName(columns),
    label: title.slice(0, 1).toUpperCase() + title.slice(1),
    description: `The sum of ${title}.`,
    type: 'derived',
    type_params: { expr: columns.join(' + '), metrics: columns.map((name) => ({ name })) },
  };
}
