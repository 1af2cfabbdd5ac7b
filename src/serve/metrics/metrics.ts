import { randomUUID } from 'node:crypto';
import { lstat, open, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Counter, collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import {
  isDecided,
  type OrganizationOutcome,
  type RoundListener,
  type RoundReport,
  refusalOf,
} from '../../../jobs/round.ts';
import { archiveBytes } from '../../archive/index.ts';
import { readBackupNotes, readDamages } from '../../backup/index.ts';
import type { Clock, JobContext } from '../../core/clock.ts';
import { yesterdayOf } from '../../core/day.ts';
import { DaywalkError, messageOf, UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { hasCode, packageVersion, replaceFile } from '../../core/files.ts';
import { readKnownArchives } from '../../identity/index.ts';
import { dueSweeps } from '../../kept-out/index.ts';
import { readRunningWaits } from '../../marks/index.ts';
import type { RunEvent } from '../../pipeline/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { ASIDE, pendingErasures } from '../../records/index.ts';
import type { Settings } from '../../settings/index.ts';
import { type KeptWarehouse, keepOpen } from '../../warehouse/index.ts';
import type { ServiceState } from '../service-state.ts';
import {
  isCounter,
  METRICS,
  type MetricDefinition,
  type Sample,
  SERVICE_METRICS,
  sample,
  samplesOf,
  samplesOfBackups,
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
  let [hasLostRuns, findsLosses] = [false, false];
  const readBudgets = createBudgetReader();
  let made: { readonly from: string; readonly samples: readonly Sample[] } | undefined;

  const stored = (warehouse: KeptWarehouse): Promise<readonly Sample[]> =>
    warehouse.read(async (snapshot, version) => {
      const now = clock.now();
      const names = settings().organizationsFile?.organizations.map(({ name }) => name) ?? null;
      const from = JSON.stringify([version, yesterdayOf(now), names]);
      if (made?.from !== from) {
        const facts = await readFacts(snapshot, { names, now, readBudgets });
        const samples = facts.flatMap((each) => samplesOf(each, now));
        const backups = samplesOfBackups(await readBackupNotes(snapshot));
        made = { from, samples: [...(await samplesOfWarehouse(snapshot)), ...samples, ...backups] };
      }
      // A worker that is killed commits nothing, so its wait ends without a new version.
      return [...samplesOfWaits(await readRunningWaits(snapshot, now)), ...made.samples];
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
        sample('identityMismatch', {}, round === null || refusalOf(round) === null ? 0 : 1),
        sample('lostRuns', {}, hasLostRuns ? 1 : 0),
        ...withRound(samples, round),
      ]);
    },
    listener: {
      begin: async () => {
        findsLosses = false;
      },
      observe: (event) => {
        if (event.type === 'warning' && event.reason === 'runs-lost') findsLosses = true;
      },
      end: async (report) => {
        // A round that another run kept out has found nothing out.
        if (round !== null && !isDecided(report)) return;
        round = report;
        hasLostRuns = findsLosses;
      },
    },
  };
}

function samplesOfWaits(waits: Awaited<ReturnType<typeof readRunningWaits>>): Sample[] {
  return [
    sample('waitingSince', {}, waits === null ? 0 : Date.parse(waits.since) / 1000),
    sample('waitingWorkers', {}, waits?.workers ?? 0),
  ];
}

/** What a warehouse says of its erasures and archives. */
async function samplesOfWarehouse(warehouse: Pick<Warehouse, 'read' | 'select'>): Promise<Sample[]> {
  const pending = [
    ...(await pendingErasures(warehouse)).map(({ orgId }) => orgId),
    ...(await dueSweeps(warehouse)),
  ];
  const archives = (await readKnownArchives(warehouse)).filter(({ endedAt }) => endedAt === null);
  const damages = await readDamages(warehouse);
  return [
    sample('pendingErasures', {}, new Set(pending).size),
    ...archives.flatMap(({ id: archive, place, lastMetAt }, index) => {
      const met = sample('archiveLastMet', { archive }, Date.parse(lastMetAt) / 1000);
      // Machines may have an archive each at the same path. The one that was met last is here.
      if (archives.findIndex((other) => other.place === place) < index) return [met];
      const [bytes, found] = [archiveBytes(place), damages[place]];
      return [
        met,
        ...(bytes === 0 ? [] : [sample('archiveBytes', { archive }, bytes)]),
        ...(typeof found === 'number' ? [sample('archiveDamages', { archive }, found)] : []),
      ];
    }),
  ];
}

/** Adds the last runs that the warehouse does not know: it cannot be read, or they could not begin. */
function withRound(samples: readonly Sample[] | null, round: RoundReport | null): readonly Sample[] {
  const known = samples ?? [];
  if (round === null || ASIDE.has(round.command)) return known;
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
    const { name, help, labels } = definition;
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    const metric = isCounter(definition) ? new Counter(options) : new Gauge(options);
    for (const { labels: values, value } of own) metric.inc({ ...values }, value);
  }
  return registry.metrics();
}

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

/** Everybody may read it: the collector runs as another user, and nothing in it is about a person. */
const FILE_MODE = 0o644;

/** Where to write the metrics, and what they are made from. */
export interface MetricsFileOptions {
  readonly path: string;
  readonly settings: Pick<Settings, 'warehouse' | 'queryTimeout'> & NamedOrganizations;
}

/**
 * As {@link metricsFileListener}, if the file can be written.
 * @throws {UsageError} if not.
 */
export async function openMetricsFile(
  options: MetricsFileOptions,
  job: Pick<JobContext<RunEvent>, 'clock' | 'observe'>,
): Promise<RoundListener> {
  await expectMetricsFile(options.path);
  return metricsFileListener(options, job);
}

/**
 * Creates the listener that writes the metrics to a file at the end of each round, for the textfile collector of
 * node_exporter. A failure then is a warning: the data are stored, and the age of the file shows that it is stale.
 */
export function metricsFileListener(
  { path, settings }: MetricsFileOptions,
  { clock, observe }: Pick<JobContext<RunEvent>, 'clock' | 'observe'>,
): RoundListener {
  const metrics = createMetrics({ clock, settings: () => settings });
  return {
    end: async (report) => {
      await metrics.listener.end?.(report);
      const warehouse = keepOpen(settings.warehouse, { clock, statementMsMax: settings.queryTimeout });
      try {
        await refuseForeignFile(path);
        await replaceFile(path, await metrics.text(warehouse), FILE_MODE);
      } catch (error) {
        observe({
          type: 'warning',
          message: `the metrics were not written: ${messageOf(error)}`,
          hint: 'the export itself is not affected; the next run writes them again',
        });
      } finally {
        await warehouse.close();
      }
    },
  };
}

/**
 * Makes sure that the metrics can be written, by creating a file beside it.
 * @throws {UsageError} if not, or if the path holds something other than metrics of Daywalk.
 */
export async function expectMetricsFile(path: string): Promise<void> {
  try {
    await refuseForeignFile(path);
    // The collector reads *.prom only.
    const probe = join(dirname(path), `.${basename(path)}.${randomUUID()}.part`);
    await (await open(probe, 'wx', FILE_MODE)).close();
    await rm(probe, { force: true });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`write the metrics to ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'name a file in an existing folder that this user may write to',
    });
  }
}

/** @throws {UsageError} if the path is a link, a folder or a file that is not from Daywalk: none of them is replaced. */
async function refuseForeignFile(path: string): Promise<void> {
  const existing = await lstat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  });
  if (existing === null || (existing.isFile() && (await beginsLikeMetrics(path)))) return;
  const kind = existing.isDirectory() ? 'is a folder' : 'is not a metrics file of daywalk';
  throw new UsageError(`write the metrics to ${path}: it ${kind}`, {
    hint: 'name a new file that ends in .prom, in the folder of the textfile collector',
  });
}

async function beginsLikeMetrics(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_BYTES.length), 0, FIRST_BYTES.length, 0);
    return buffer.toString('utf8', 0, bytesRead) === FIRST_BYTES.slice(0, bytesRead);
  } finally {
    await file.close();
  }
}
