import { isDue, lossOf, weighLoss } from '../../../src/judge/doubt.ts';
import { lookAtRows, lookAtSums, reopenedDays } from '../../../src/judge/watch.ts';
import { afterWatch, planWatch } from '../../../src/judge/watch-plan.ts';
import { settleDay } from '../../../src/ledger/transitions.ts';

/** The rules that a test may replace, to prove that the property depends on them. */
export const RULES = {
  afterWatch,
  isDue,
  weighLoss,
  lossOf,
  lookAtRows,
  lookAtSums,
  reopenedDays,
  planWatch,
  settleDay,
} as const;

export type Rules = typeof RULES;
