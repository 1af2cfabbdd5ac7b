import type { View } from './define.ts';
import { coverage } from './views/coverage.ts';
import { dailyOverview } from './views/daily-overview.ts';
import { modelMix } from './views/model-mix.ts';
import { readinessLatest } from './views/readiness-latest.ts';
import { todaySoFar } from './views/today-so-far.ts';

/** Every view of the warehouse, by its name in the code. */
export const views = { dailyOverview, modelMix, readinessLatest, coverage, todaySoFar } as const;

/** Every view, in the order of the documentation. */
export const allViews: readonly View[] = Object.values(views);
