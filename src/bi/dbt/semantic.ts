import {
  allMetrics,
  type Dimension,
  type Metric,
  type Source,
  type Term,
} from '../../../schema/metrics/dictionary.ts';
import { tables } from '../../../schema/tables.ts';
import { combiningOf, shownUnit } from '../dictionary.ts';
import type { BiFile } from '../write-folder.ts';
import { type Yaml, yamlText } from '../yaml.ts';
import { MODELS, stagingName } from './models.ts';

/** The semantic models: one for each model of the package that metrics are computed from. */
export function semanticModelFile(): BiFile {
  const models = new Map<string, { readonly rows: SemanticRows; readonly measures: Measure[] }>();
  for (const measure of allMeasures()) {
    const rows = semanticRows(measure.source);
    const known = models.get(rows.model) ?? { rows, measures: [] };
    known.measures.push(measure);
    models.set(rows.model, known);
  }
  const document: Yaml = {
    version: 2,
    semantic_models: [...models.values()].map(({ rows, measures }) => semanticModel(rows, measures)),
  };
  return { path: 'models/semantic/semantic_models.yml', text: yamlText(document) };
}

function semanticModel(rows: SemanticRows, measures: readonly Measure[]): Yaml {
  const { model, row, hasUsers, hasTeams, dimensions } = rows;
  return {
    name: `${row}s`,
    model: `ref('${model}')`,
    defaults: { agg_time_dimension: 'date' },
    primary_entity: row,
    entities: [
      { name: 'organization', type: 'foreign', expr: 'org_id' },
      ...(hasUsers ? [{ name: 'user_id', type: 'foreign' }] : []),
      ...(hasTeams ? [{ name: 'team', type: 'foreign' }] : []),
    ],
    dimensions: [
      { name: 'date', type: 'time', type_params: { time_granularity: 'day' } },
      ...Object.entries(dimensions).map(([name, expr]) => ({ name, type: 'categorical', expr })),
    ],
    measures: measures.map(measureYaml),
  };
}

/** The rows of a semantic model: which model of the package has them, and where its dimensions are. */
interface SemanticRows {
  /** The model of the package. */
  readonly model: string;
  /** The name of a row, which dimensions are asked with: `token_model_day__tier`. */
  readonly row: string;
  /** The SQL of each dimension. */
  readonly dimensions: Readonly<Partial<Record<Dimension, string>>>;
  /** True if rows have `user_id`, or a team. */
  readonly hasUsers: boolean;
  readonly hasTeams: boolean;
}

/** Where the rows of a source are in the package, by its table. Tables without an entry are used as they are. */
const REPLACED: Readonly<Record<string, { readonly model: string; readonly row: string }>> = {
  [tables.userDaily.name]: { model: MODELS.userDays, row: 'user_day' },
  [tables.userDailyLanguages.name]: { model: MODELS.userLanguageDays, row: 'user_language_day' },
  [tables.people.name]: { model: MODELS.licensedDays, row: 'licensed_day' },
  [tables.readinessReports.name]: { model: MODELS.readinessDays, row: 'readiness_day' },
};

/** Returns the rows that a source of the dictionary has in the package. */
export function semanticRows({ table, columns, hasUsers }: Source): SemanticRows {
  const { model, row } = REPLACED[table.name] ?? {
    model: stagingName(table),
    row: table.name.replace('_daily', '_day'),
  };
  const dimensions = Object.fromEntries(
    Object.entries(columns)
      .filter(([name]) => name !== 'team')
      // A model of the package that replaces a table names its columns like the dimensions.
      .map(([name, parts]) => [name, table === tables.readinessReports ? name : expressionOf(parts)]),
  );
  return { model, row, dimensions, hasUsers, hasTeams: hasUsers || columns.team !== undefined };
}

/** Several columns name a dimension together, with " / " between those that are not empty. */
function expressionOf([first = '', ...rest]: readonly string[]): string {
  return [
    first,
    ...rest.map((column) => `case when ${column} <> '' then ' / ' || ${column} else '' end`),
  ].join(' || ');
}

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

/** MetricFlow adds up rows, and no row of a team or a model says that others are not there any more. */
const EXPIRED_NOTE =
  'Days whose people have expired have no rows: the week, month or year of the last one shows what is left of it.';

/** What people see of a metric. */
function headOf({ name, title, doc }: Pick<Metric, 'name' | 'title' | 'doc'>, metric: Metric | undefined) {
  const rule = metric === undefined ? '' : ` ${combiningOf(metric)}`;
  return {
    name,
    label: title,
    description: `${doc}${rule}${metric?.source.hasUsers ? ` ${EXPIRED_NOTE}` : ''}`,
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

/** Something that MetricFlow aggregates: the only part of a metric that reads rows. Its name is that of a metric. */
interface Measure {
  readonly name: string;
  readonly title: string;
  readonly doc: string;
  readonly source: Source;
  readonly agg: 'sum' | 'max' | 'average' | 'count_distinct';
  readonly expr: string;
  /** True if the value is that of the last day of a period, never of several days. */
  readonly isOfLastDay: boolean;
}

/** The users of all organizations differ, also if an ID occurs twice. */
const USER = "org_id || '/' || user_id";

/** Every measure of the package. */
function allMeasures(): readonly Measure[] {
  const own = allMetrics.filter(({ name }) => LEFT_OUT[name] === undefined).flatMap(measuresOf);
  return [...own, ...costMeasures()];
}

function measuresOf(metric: Metric): readonly Measure[] {
  const { name, title, doc, source, breakdown, measure } = metric;
  const of = (agg: Measure['agg'], expr: string, isOfLastDay = false): Measure => ({
    ...{ name, title, doc, source, agg, expr, isOfLastDay },
  });
  switch (measure.kind) {
    case 'term': {
      if (measure.term.kind === 'users') return [of('count_distinct', USER)];
      if (measure.term.kind === 'cost') return [];
      const [column = '', ...others] = measure.term.columns;
      if (others.length > 0 || measure.term.where !== undefined) {
        throw new TypeError(`${name} is more than the sum of a column: declare how MetricFlow computes it`);
      }
      const total = of('sum', column);
      return breakdown === undefined ? [total] : [total, inParts(total, breakdown)];
    }
    case 'ratio':
      return [measure.numerator, measure.denominator].flatMap((term) =>
        term.kind !== 'sum' || term.where === undefined ? [] : [partOf(metric, term.where.rollupColumn)],
      );
    case 'snapshot':
      // Of several organizations the largest value: they must not be added.
      return [of('max', measure.column, true)];
    case 'new users':
      return [of('sum', 'new_users')];
    case 'licensed users':
      return [of('sum', 'licensed_users', true)];
    case 'readiness score':
      return [of('average', 'readiness_score', true)];
    case 'inactive users':
      return [];
  }
}

/** The same numbers in parts, which have more dimensions. */
function inParts(total: Measure, breakdown: Source): Measure {
  const parts = Object.keys(breakdown.columns);
  return {
    ...total,
    name: `${total.name}_by_${parts[0]}`,
    title: `${total.title} by ${parts.join(' and ')}`,
    doc: `${total.doc} By ${parts.join(' and ')}.`,
    source: breakdown,
  };
}

function partOf({ source, doc }: Metric, column: string): Measure {
  const title = column.replaceAll('_', ' ');
  return {
    name: column,
    title: title.slice(0, 1).toUpperCase() + title.slice(1),
    doc: `The part that counts in: ${doc}`,
    ...{ source, agg: 'sum', expr: column, isOfLastDay: false },
  };
}

function costMeasures(): readonly Measure[] {
  return allMetrics
    .filter(
      ({ name, measure }) =>
        LEFT_OUT[name] === undefined && measure.kind === 'term' && measure.term.kind === 'cost',
    )
    .flatMap(({ source }) => {
      const part = (name: string, title: string, doc: string): Measure => ({
        ...{ name, title, doc, source, agg: 'sum', expr: name, isOfLastDay: false },
      });
      return [
        part(
          'cost_of_priced_days',
          'Cost of priced days',
          'A part of cost: days without a price are left out.',
        ),
        part('unpriced_user_days', 'Days without a price', 'Days of users with credits but without a price.'),
        {
          ...part('cost_currencies', 'Currencies', 'Number of currencies of the prices.'),
          agg: 'count_distinct' as const,
          expr: 'paid_currency',
        },
      ];
    });
}

/** A measure as MetricFlow reads it. */
function measureYaml({ name, title, doc, agg, expr, isOfLastDay }: Measure): Yaml {
  return {
    name,
    label: title,
    description: doc,
    agg,
    expr,
    // Organizations have newest days of their own.
    non_additive_dimension: isOfLastDay
      ? { name: 'date', window_choice: 'max', window_groupings: ['organization'] }
      : undefined,
  };
}

/** The metrics of the dictionary that MetricFlow cannot express without giving wrong numbers, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  inactive_users:
    'It compares the people of the last day with the users of all days of the same period. A metric of MetricFlow counts ' +
    'rows, and no row says who had no activity in a period that is only known when the question is asked.',
  published_cost:
    'A price is joined to the rows of users only. Multiply `published_billable_tokens` by the price of the day in `prices`.',
  published_client_dau:
    'Someone who uses several clients counts once in each, so it has a value only by client. MetricFlow cannot require a ' +
    'dimension, and without one it would combine the clients.',
};
