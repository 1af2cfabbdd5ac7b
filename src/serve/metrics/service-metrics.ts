import { Counter, collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import type { ServiceState } from '../service-state.ts';
import type { MetricDefinition } from './definitions.ts';

/** The metrics of the service itself, which only `/metrics` has. They begin again with each start. */
export const SERVICE_METRICS = {
  nextRound: {
    name: 'daywalk_next_round_timestamp_seconds',
    type: 'gauge',
    help: 'When the next round begins; missing while one is in progress.',
    labels: [],
  },
  rounds: {
    name: 'daywalk_rounds_total',
    type: 'counter',
    help: 'Rounds since the start of the service.',
    labels: [],
  },
  roundsBroken: {
    name: 'daywalk_rounds_broken_total',
    type: 'counter',
    help: 'Rounds since the start of the service that a defect ended.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

/** Metrics of the library against the rules for names: gauges that end like counters, and names with their type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary',
];

/**
 * Creates the metrics of the process: memory, processor time, event loop, garbage collection. Call once per process,
 * because the library observes it until its end.
 */
export function createServiceMetrics(): (state: ServiceState) => Promise<string> {
  const process = new Registry();
  collectDefaultMetrics({ register: process });
  for (const name of MISNAMED) process.removeSingleMetric(name);
  return async (state) => `${await ownMetrics(state)}\n${await process.metrics()}`;
}

function ownMetrics({ rounds, roundsBroken, nextRoundAt }: ServiceState): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const { nextRound, rounds: all, roundsBroken: broken } = SERVICE_METRICS;
  if (nextRoundAt !== null) {
    new Gauge({ name: nextRound.name, help: nextRound.help, registers }).set(nextRoundAt.getTime() / 1000);
  }
  new Counter({ name: all.name, help: all.help, registers }).inc(rounds);
  new Counter({ name: broken.name, help: broken.help, registers }).inc(roundsBroken);
  return registry.metrics();
}
