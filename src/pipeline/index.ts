export type { NormalizedDay } from './commit.ts';
export type { RunEvent, RunObserver, RunProblem, RunReport } from './events.ts';
export { Findings } from './normalize/records.ts';
export { planUnits, requestUnder } from './plan.ts';
export type { PullCall, Source } from './pull.ts';
export {
  collectArchived,
  type ReplayedOrganization,
  type ReplayReport,
  replayOrganization,
} from './replay.ts';
export {
  type DurationForecast,
  type ForecastFacts,
  forecastDuration,
  forecastRequests,
} from './request-forecast.ts';
export { type AskedFacts, NOTHING_KNOWN, readFacts } from './request-forecast-facts.ts';
export { prepareBatch } from './run/prepare-batch.ts';
export { runUnits } from './run/run.ts';
export { identify } from './run/start.ts';

/** What one request says about a service and its key. */
export const firstLooks = (): Promise<typeof import('./run/first-look.ts')> => import('./run/first-look.ts');
