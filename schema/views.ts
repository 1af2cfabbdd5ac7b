import type { View } from './define.ts';
import { costDaily, costMonthlyByTeam, monthForecast } from './views/costs.ts';
import { coverage, restatedDays } from './views/ledger.ts';
import { dailyOverview, monthlyOverview, weeklyOverview } from './views/overviews.ts';
import { failingCriteria, readinessHistory, readinessLatest } from './views/readiness.ts';
import { inactiveUsers, modelMix, thinkingShareByUser, todaySoFar } from './views/usage.ts';

/** Every view of the warehouse, by its name in the code. */
export const views = {
  dailyOverview,
  weeklyOverview,
  monthlyOverview,
  modelMix,
  thinkingShareByUser,
  inactiveUsers,
  costDaily,
  costMonthlyByTeam,
  monthForecast,
  readinessLatest,
  readinessHistory,
  failingCriteria,
  coverage,
  restatedDays,
  todaySoFar,
} as const;

/** Every view, in the order of the documentation. */
export const allViews: readonly View[] = Object.values(views);
