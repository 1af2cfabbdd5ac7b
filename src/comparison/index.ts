export { type ComparedAnswer, compareMetric } from './compare-metric.ts';
export { type CausesAnswer, explainChange, readCauses } from './read-causes.ts';
export { readUnusual, type UnusualAnswer } from './read-unusual.ts';
export {
  COMPARISONS,
  type Comparison,
  comparedSpan,
  NO_SPAN_BEFORE,
  whyNotCompared,
} from './span.ts';
