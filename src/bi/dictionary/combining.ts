import { type Additivity, additivityOf, type Metric } from '../../../schema/metrics.ts';

const SENTENCES: Readonly<Record<Additivity, string>> = {
  sum: 'Values may be added over all dimensions.',
  'distinct count':
    'Do not sum: a user counts once in each group. Ask again for the longer period or larger group.',
  ratio: 'Do not sum or average: the ratio is recomputed for each group.',
  'end of period': 'Do not sum over days: the value is the state on the last day of the period.',
  'one day only': 'Do not sum or average: the service publishes it for single days.',
};

/** How the values of a metric may be combined, for people: whether a tool may sum them. */
export function combiningOf(metric: Metric): string {
  return SENTENCES[additivityOf(metric)];
}
