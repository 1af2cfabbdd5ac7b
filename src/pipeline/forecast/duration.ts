import type { RunRecord } from '../../warehouse/port.ts';

export interface DurationForecast {
  readonly durationMs: number;
  /** True while no run with a similar number of requests has ended. Then the duration may be wrong by several times. */
  readonly isEstimate: boolean;
}

/** Similar runs that the forecast averages over. */
const SIMILAR_RUNS = 3;
/** A run is similar if its number of requests differs by this factor at most. */
const SIMILAR_FACTOR = 2;

/**
 * Estimates how long a run with `requests` requests takes, from the pace of earlier runs. A nightly run with a dozen
 * requests needs more time per request than a first run that keeps eight in flight. So other runs count only if there is no
 * similar one.
 * @returns null if no earlier run ended after sending a request.
 */
export function forecastDuration(runs: readonly RunRecord[], requests: number): DurationForecast | null {
  const ended = runs.flatMap(({ startedAt, endedAt, requests: sent }) => {
    const ms = endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(startedAt);
    return sent > 0 && ms > 0
      ? [{ sent, ms, distance: Math.abs(Math.log(sent / Math.max(1, requests))) }]
      : [];
  });
  const similar = ended.filter(({ distance }) => distance <= Math.log(SIMILAR_FACTOR));
  const nearest = (similar.length > 0 ? similar : ended)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SIMILAR_RUNS);
  const sent = nearest.reduce((sum, run) => sum + run.sent, 0);
  if (sent === 0) return null;
  const ms = nearest.reduce((sum, run) => sum + run.ms, 0);
  return { durationMs: Math.round((requests * ms) / sent), isEstimate: similar.length === 0 };
}
