import { parseDay } from '../../../src/core/day.ts';
import { findMetric } from '../../../src/metrics/question.ts';

/** The period in which tools must agree, and its month. */
export const OCTOBER = {
  month: '2026-10',
  from: parseDay('2026-10-01'),
  until: parseDay('2026-10-31'),
} as const;

/** The metrics in which they must agree: sums, distinct counts, ratios, money, states and numbers of one day. */
export const COMPARED = [
  'active_users',
  'new_users',
  'billable_tokens',
  'sessions',
  'tool_calls',
  'mcp_calls',
  'skill_calls',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
  'thinking_share',
  'cost',
  'cost_per_active_user',
  'licensed_users',
  'inactive_users',
  'published_billable_tokens',
  'cache_share',
  'published_mau',
  'readiness_score',
] as const;

/** A metric that is published for single days is compared on the last day of October, every other one over the month. */
export function isOfOneDay(metric: string): boolean {
  return findMetric(metric).measure.kind === 'snapshot';
}

/** A way to get numbers out of the warehouse of the demo. */
export interface NumberSource {
  readonly name: string;
  /** Metrics that the tool does not have, because it cannot express them. @default none */
  readonly leftOut?: readonly string[];
  /**
   * The value of a metric in October, or on its last day, see {@link isOfOneDay}. Undefined if the tool does not show the
   * metric for that period.
   */
  valueIn(metric: string): Promise<number | null | undefined>;
}
