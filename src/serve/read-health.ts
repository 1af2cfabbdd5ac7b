import type { Clock } from '../core/clock.ts';
import { DaywalkError } from '../core/errors.ts';
import { publicName, publicText } from '../privacy/public-text.ts';
import { assessHealth, type Health } from '../status/health.ts';
import type { KeptWarehouse } from '../warehouse/kept-open.ts';
import type { Schedule } from './schedule/parse-schedule.ts';
import type { ServiceState } from './service-state.ts';

const HOUR_MS = 3_600_000;
/** What a run and the waits for another one may take. */
const SLACK_HOURS = 2;
/** The service has a new day every 24 hours, however often it is asked. */
const DAY_HOURS = 24;

/** How to read the health. */
export interface HealthSources {
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly state: ServiceState;
  /** The names in the organizations file; null if there is none. */
  readonly names: readonly string[] | null;
}

/**
 * Reads whether the warehouse is healthy, as `daywalk status --health` does: the last complete export may be as old as the
 * longest gap of the schedule, at least a day, and two hours. A warehouse that cannot be read is unhealthy.
 */
export async function readHealth(
  warehouse: KeptWarehouse,
  { clock, schedule, state, names }: HealthSources,
): Promise<Pick<Health, 'healthy' | 'reason'>> {
  const maxAgeHours = Math.max(DAY_HOURS, Math.ceil(schedule.longestGapMs / HOUR_MS)) + SLACK_HOURS;
  // The run lock is not asked: taking it for an instant could stop a run that begins then.
  const question = { now: clock.now(), maxAgeHours, names, isRunning: state.phase === 'running' };
  try {
    const { healthy, reason } = await warehouse.read((snapshot) => assessHealth(snapshot, question));
    return { healthy, reason: publicName(reason) };
  } catch (error) {
    if (!(error instanceof DaywalkError)) throw error;
    return { healthy: false, reason: publicText(error.message) };
  }
}
