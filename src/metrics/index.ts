export { answerMetric, answerWithSql, metricQuery, metricSql } from './answer-metric.ts';
export { readCohorts } from './cohorts.ts';
export { resolveFilters } from './filters.ts';
export {
  type AskedPeriod,
  isLoaded,
  loadedUnit,
  PERIOD_DAYS_MAX,
  type Period,
  resolvePeriod,
} from './period.ts';
export { readProvenance } from './provenance.ts';
export { type NamedQuery, PHRASES, selectSql, withSql } from './query/plan.ts';
export { teamsInPlaceOfTable } from './query/rows.ts';
export {
  type CoveredDays,
  checkUser,
  findMetric,
  findTeam,
  type MetricAnswer,
  type MetricQuestion,
  type MetricRow,
} from './question.ts';
