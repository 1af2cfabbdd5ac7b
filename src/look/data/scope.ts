import { dimensionsOf } from '../../../schema/metrics.ts';
import { findMetric } from '../../metrics/question.ts';
import type { Filters } from './filters.ts';

/** How the team of the filters applies to a metric. */
export interface Scope {
  /** For the question. */
  readonly team?: 'everybody';
  /** For the subtitle, after a comma; empty if the metric is cut by the team, or no team is chosen. */
  readonly words: '' | ', whole organization';
}

/** What the service publishes for the organization cannot be cut by team: such a metric keeps everybody, and says so. */
export function scopeOf({ team }: Filters, metric: string): Scope {
  if (team === undefined || dimensionsOf(findMetric(metric)).includes('team')) return { words: '' };
  return { team: 'everybody', words: ', whole organization' };
}
