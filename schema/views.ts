import type { View } from './define.ts';
import { costDaily } from './views/cost-daily.ts';
import { costMonthlyByTeam } from './views/cost-monthly-by-team.ts';
import { coverage } from './views/coverage.ts';
import { dailyOverview } from './views/daily-overview.ts';
import { failingCriteria } from './views/failing-criteria.ts';
import { inactiveUsers } from './views/inactive-users.ts';
import { modelMix } from './views/model-mix.ts';
import { monthForecast } from './views/month-forecast.ts';
import { monthlyOverview } from './views/monthly-overview.ts';
import { readinessHistory } from './views/readiness-history.ts';
import { readinessLatest } from './views/readiness-latest.ts';
import { restatedDays } from './views/restated-days.ts';
import { thinkingShareByUser } from './views/thinking-share-by-user.ts';
import { todaySoFar } from './views/today-so-far.ts';
import { weeklyOverview } from './views/weekly-overview.ts';

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
