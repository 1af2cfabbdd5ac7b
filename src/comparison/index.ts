export { type ComparedAnswer, compareMetric } from './compare-metric.ts';
export {
  type CombinedValue,
  RANK_ORDERS,
  type RankedAnswer,
  type RankOrder,
  rankMetric,
} from './rank-metric.ts';
export { type CausesAnswer, explainChange, readCauses } from './read-causes.ts';
export type { UnusualAnswer } from './read-unusual.ts';
export {
  COMPARISONS,
  type Comparison,
  comparedSpan,
  isKeptIn,
  NO_SPAN_BEFORE,
  parseComparison,
  whyNotCompared,
} from './span.ts';

type ReadUnusual = typeof import('./read-unusual.ts');

export const readUnusual: ReadUnusual['readUnusual'] = async (...given) =>
  (await import('./read-unusual.ts')).readUnusual(...given);
