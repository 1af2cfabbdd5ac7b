/** The server and the metrics are loaded when they are asked for, because a single run waits for neither. */

export { notifyListeners } from './alerts/alerts.ts';
export { performRound } from './perform-round.ts';
export { parseSchedule } from './schedule.ts';
export type { ServiceView } from './serve.ts';
export type { ServeEvent } from './service-state.ts';

type Server = typeof import('./serve.ts');
type Metrics = typeof import('./metrics/metrics.ts');

export const serve: Server['serve'] = async (...given) => (await import('./serve.ts')).serve(...given);

export const openMetricsFile: Metrics['openMetricsFile'] = async (...given) =>
  (await import('./metrics/metrics.ts')).openMetricsFile(...given);

type Checks = typeof import('./check-service.ts');

export const refuseLongJitter = async (...given: Parameters<Checks['refuseLongJitter']>) =>
  (await import('./check-service.ts')).refuseLongJitter(...given);

export const checkService: Checks['checkService'] = async (...given) =>
  (await import('./check-service.ts')).checkService(...given);

export const createMetrics = async (...given: Parameters<Metrics['createMetrics']>) =>
  (await import('./metrics/metrics.ts')).createMetrics(...given);

export const createServiceMetrics = async () => (await import('./metrics/metrics.ts')).createServiceMetrics();

type Brief = typeof import('./weekly-brief.ts');

export const weeklyBrief = async (...given: Parameters<Brief['weeklyBrief']>) =>
  (await import('./weekly-brief.ts')).weeklyBrief(...given);
