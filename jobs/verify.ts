import type { Retry } from '../src/api/transport/transport.ts';
import { systemRandom } from '../src/core/clock.ts';
import { yesterdayOf } from '../src/core/day.ts';
import { DamagedError, messageOf } from '../src/core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../src/core/exit-code.ts';
import type { JobContext } from '../src/core/job-context.ts';
import type { RunEvent } from '../src/pipeline/events.ts';
import { privacyOf } from '../src/privacy/email.ts';
import { openTransport } from '../src/settings/open-transport.ts';
import { requireApi } from '../src/settings/require-api.ts';
import type { Settings } from '../src/settings/settings.ts';
import { type PulledAgain, pullAgain, type Sampling } from '../src/verify/against-api/pull-again.ts';
import { checkPeople } from '../src/verify/check-people.ts';
import { type Checked, checkWarehouse } from '../src/verify/check-warehouse.ts';
import { type Finding, FindingList, type Severity } from '../src/verify/finding.ts';
import type { Warehouse } from '../src/warehouse/port.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** What to verify besides the warehouse itself. */
export interface VerifyRequest {
  /** Units to pull again and compare; 0 sends nothing. */
  readonly againstApi: number;
  /** Chooses the units; random by default. */
  readonly seed?: number | undefined;
}

export interface Verification extends Readonly<Checked> {
  readonly warehouse: string;
  /** What was pulled again; null when nothing was requested. */
  readonly pulledAgain: PulledAgain | null;
  /** Damages that the database reports. If there are any, the check stopped at the first. */
  readonly damages: readonly string[];
  readonly counts: Readonly<Record<Severity, number>>;
  /** The first findings of each severity; {@link counts} has all. */
  readonly findings: readonly Finding[];
}

/** Random seeds are below this; a given one may be any whole number. */
const SEEDS = 1_000_000_000;

/**
 * Recomputes the digest of every unit from the stored rows, compares the endpoints with each other, and compares
 * `againstApi` units with the service. Reads one state of the warehouse and writes nothing.
 * @throws {UsageError} when there is no warehouse, or no key to pull with.
 * @throws {CredentialError} and every other error that ends a run, when units are pulled.
 */
export function verifyWarehouse(
  settings: Settings,
  { againstApi, seed = Math.floor(systemRandom() * SEEDS) }: VerifyRequest,
  context: JobContext<RunEvent>,
): Promise<Verification> {
  // Refused before the warehouse is read, which may take an hour.
  if (againstApi > 0) requireApi(settings);
  return withWarehouse(settings.warehouse, { clock: context.clock, create: false }, async (warehouse) => {
    const findings = new FindingList();
    const checked: Checked = { units: 0, rows: 0, comparisons: 0 };
    const damages = await warehouse.inSnapshot(() => checkAll(warehouse, findings, checked));
    const pulledAgain =
      againstApi === 0 || damages.length > 0
        ? null
        : await sampleService(settings, { warehouse, findings, units: againstApi, seed }, context);
    const { counts, listed } = findings;
    return { warehouse: warehouse.location, ...checked, pulledAgain, damages, counts, findings: listed };
  });
}

async function sampleService(
  settings: Settings,
  sample: Pick<Sampling, 'warehouse' | 'findings' | 'units' | 'seed'>,
  { clock, observe, signal }: JobContext<RunEvent>,
): Promise<PulledAgain> {
  const api = requireApi(settings);
  const onRetry = (retry: Retry) => observe({ type: 'retry', ...retry });
  const transport = openTransport(settings, api, { clock, onRetry });
  try {
    return await pullAgain({
      ...sample,
      source: { transport, hosts: api },
      privacy: privacyOf(settings.emails),
      orgId: settings.orgId ?? null,
      lastDay: yesterdayOf(clock.now()),
      signal,
    });
  } finally {
    await transport.close();
  }
}

/** Checks everything that can be read. Returns what cannot be read. */
async function checkAll(warehouse: Warehouse, findings: FindingList, checked: Checked): Promise<string[]> {
  try {
    await checkWarehouse(warehouse, findings, checked);
    await checkPeople(warehouse, findings);
    return await warehouse.damages();
  } catch (error) {
    if (error instanceof DamagedError) return [messageOf(error)];
    throw error;
  }
}

/** The exit code of a verification. */
export function exitCodeOf({ damages, counts }: Verification): ExitCode {
  return worstExit([
    damages.length > 0 ? EXIT.storage : EXIT.ok,
    counts.broken + counts.hole + counts.difference > 0 ? EXIT.quarantine : EXIT.ok,
    counts.unanswered > 0 ? EXIT.upstream : EXIT.ok,
  ]);
}
