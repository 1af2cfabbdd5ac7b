import type { OrganizationOutcome, RoundReport } from '../../../jobs/run-round.ts';
import type { Clock } from '../../core/clock.ts';
import { yesterdayOf } from '../../core/day.ts';
import { DaywalkError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { packageVersion } from '../../core/package.ts';
import type { KeptWarehouse } from '../../warehouse/kept-open.ts';
import type { RoundListener } from '../perform-round.ts';
import { createBudgetReader } from './budget-states.ts';
import { type Sample, sample } from './definitions.ts';
import { readFacts, UNKNOWN } from './organization-facts.ts';
import { renderSamples } from './render.ts';
import { samplesOf, samplesOfLastRun } from './samples.ts';

/** The part of the settings that names the organizations to report; without a file all of the warehouse are. */
export interface NamedOrganizations {
  readonly organizationsFile?: { readonly organizations: readonly { readonly name: string }[] };
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
