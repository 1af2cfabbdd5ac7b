import { allMetrics, type Dimension, type Metric } from '../../../schema/metrics.ts';
import type { Dialect } from '../../../schema/query.ts';
import { combiningOf } from '../dictionary/combining.ts';
import { cutsOf } from '../dictionary/cuts.ts';
import { metricSql } from '../dictionary/metric-sql.ts';
import { shownUnit } from '../dictionary/shown-unit.ts';
import type { BiFile } from '../files/bi-target.ts';
import { statementFile } from './statement-file.ts';

const PERIOD =
  'The named query "period" chooses the organization and the days: the only organization, from the first day of the ' +
  'service to the newest loaded day. Replace its values for others. With several organizations, every value is NULL ' +
  'until one is chosen.';

/** A statement for every metric, in total and by each of its dimensions: `sqlite/by-month/cost.sql`. */
export function metricFiles(dialect: Dialect): readonly BiFile[] {
  return allMetrics.flatMap((metric) => cutsOf(metric).map((by) => metricFile(dialect, metric, by)));
}

function metricFile(dialect: Dialect, metric: Metric, by: readonly Dimension[]): BiFile {
  const { name, title, doc } = metric;
  const path = `${dialect}/${by.length === 0 ? 'total' : `by-${by.join('-')}`}/${name}.sql`;
  const comments = [
    `${title}${by.length === 0 ? ' in total' : ` by ${by.join(' and ')}`}, in ${shownUnit(metric)}: the metric ${name}.`,
    doc,
    combiningOf(metric),
    PERIOD,
  ];
  return statementFile(path, comments, metricSql(dialect, { metric: name, by }));
}
