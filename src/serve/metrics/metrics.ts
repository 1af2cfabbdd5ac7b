import { Counter, collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import type { OrganizationOutcome, RoundReport } from '../../../jobs/round.ts';
import type { Clock } from '../../core/clock.ts';
import { yesterdayOf } from '../../core/day.ts';
import { DaywalkError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { packageVersion } from '../../core/package.ts';
import type { KeptWarehouse } from '../../warehouse/kept-open.ts';
import type { RoundListener } from '../perform-round.ts';
import type { ServiceState } from '../service-state.ts';
import {
  METRICS,
  type MetricDefinition,
  type Sample,
  sample,
  samplesOf,
  samplesOfLastRun,
} from './definitions.ts';
import { createBudgetReader, readFacts, UNKNOWN } from './organization-facts.ts';

/** The part of the settings that names the organizations to report; without a file all of the warehouse are. */
export interface NamedOrganizations {
  readonly organizationsFile?: { readonly organizations: readonly { readonly name: string }[] } | null;
}

/** What the metrics are made from, besides the warehouse. */
export interface MetricsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The present settings, whose organizations are reported. Is called for every text. */
  readonly settings: () => NamedOrganizations;
}

/** The metrics of a warehouse. */
export interface Metrics {
  /**
   * The metrics in the text format of Prometheus. Reads the warehouse only if it has changed since the last text. A
   * warehouse that cannot be read is a metric, too.
   */
  text(warehouse: KeptWarehouse): Promise<string>;
  /** Remembers runs that could not begin: the warehouse does not know them. */
  readonly listener: RoundListener;
}

/** Creates the metrics of a warehouse. */
export function createMetrics({ clock, settings }: MetricsOptions): Metrics {
  let round: RoundReport | null = null;
  const readBudgets = createBudgetReader();
  let made: { readonly from: string; readonly samples: readonly Sample[] } | undefined;

  const stored = (warehouse: KeptWarehouse): Promise<readonly Sample[]> =>
    warehouse.read(async (snapshot, version) => {
      const now = clock.now();
      const names = settings().organizationsFile?.organizations.map(({ name }) => name) ?? null;
      const from = JSON.stringify([version, yesterdayOf(now), names]);
      if (made?.from !== from) {
        const facts = await readFacts(snapshot, { names, now, readBudgets });
        made = { from, samples: facts.flatMap((each) => samplesOf(each, now)) };
      }
      return made.samples;
    });

  return {
    text: async (warehouse) => {
      const samples = await stored(warehouse).catch((error: unknown) => {
        if (error instanceof DaywalkError) return null;
        throw error;
      });
      return renderSamples([
        sample('buildInfo', { version: packageVersion(), node: process.versions.node }, 1),
        sample('warehouseReadable', {}, samples === null ? 0 : 1),
        ...withRound(samples, round),
      ]);
    },
    listener: {
      end: async (report) => {
        round = report;
      },
    },
  };
}

/** Adds the last runs that the warehouse does not know: it cannot be read, or they could not begin. */
function withRound(samples: readonly Sample[] | null, round: RoundReport | null): readonly Sample[] {
  const known = samples ?? [];
  if (round === null) return known;
  const { startedAt, endedAt } = round;
  const ends = new Map(
    known.flatMap(({ metric, labels, value }) =>
      metric === 'lastRunEnd' ? [[labels['organization'], value] as const] : [],
    ),
  );
  const organizations = new Set(known.flatMap(({ labels }) => labels['organization'] ?? []));
  const added = round.organizations
    // A run that another one kept out says nothing about the export.
    .filter(({ exitCode }) => exitCode !== EXIT.busy)
    .map((outcome) => ({ label: labelOf(outcome, organizations), exitCode: outcome.exitCode }))
    .filter(({ label }) => (ends.get(label) ?? 0) <= Date.parse(startedAt) / 1000)
    .flatMap(({ label, exitCode }) => samplesOfLastRun(label, { exitCode, startedAt, endedAt }));
  const replaced = new Set(added.map(nameOf));
  return [...known.filter((each) => !replaced.has(nameOf(each))), ...added];
}

function labelOf({ name, orgId }: OrganizationOutcome, organizations: ReadonlySet<string>): string {
  const [only, ...others] = organizations;
  return name ?? orgId ?? (others.length === 0 ? only : undefined) ?? UNKNOWN;
}

function nameOf({ metric, labels }: Sample): string {
  return JSON.stringify([metric, Object.values(labels)]);
}

/** How every text begins. */
export const FIRST_BYTES = '# HELP daywalk_';

/**
 * The samples in the text format of Prometheus, version 0.0.4, in the order of the definitions. A metric without a sample is
 * left out. The library escapes the labels.
 */
export function renderSamples(samples: readonly Sample[]): Promise<string> {
  const registry = new Registry();
  for (const [key, definition] of Object.entries<MetricDefinition>(METRICS)) {
    const own = samples.filter(({ metric }) => metric === key);
    if (own.length === 0) continue;
    const { name, type, help, labels } = definition;
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    const metric = type === 'counter' ? new Counter(options) : new Gauge(options);
    for (const { labels: values, value } of own) metric.inc({ ...values }, value);
  }
  return registry.metrics();
}

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
