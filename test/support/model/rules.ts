import { isDue, lossOf, weighLoss } from '../../../src/judge/doubt.ts';
import { countIdentities } from '../../../src/judge/identities.ts';
import {
  isOtherThanLooked,
  lookAtRows,
  lookAtSums,
  reopenedDays,
  sortChanges,
} from '../../../src/judge/watch.ts';
import { afterWatch, planWatch } from '../../../src/judge/watch-plan.ts';
import { settleDay } from '../../../src/ledger/transitions.ts';

/** The rules that a test may replace, to prove that the property depends on them. */
export const RULES = {
  afterWatch,
  countIdentities,
  isDue,
  isOtherThanLooked,
  weighLoss,
  lossOf,
  lookAtRows,
  lookAtSums,
  reopenedDays,
  sortChanges,
  planWatch,
  settleDay,
} as const;

export type Rules = typeof RULES;
