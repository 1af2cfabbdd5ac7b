import type { JobContext } from '../src/core/clock.ts';
import { systemRandom } from '../src/core/clock.ts';
import { yesterdayOf } from '../src/core/day.ts';
import { DamagedError, DaywalkError, messageOf } from '../src/core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../src/core/exit-code.ts';
import type { Retry } from '../src/http/index.ts';
import { chooseOrganization, listOrganizations, namesOf } from '../src/organizations/index.ts';
import type { RunEvent } from '../src/pipeline/index.ts';
import { openGate } from '../src/policy/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import type { NamedOrganization, Settings } from '../src/settings/index.ts';
import {
  type Checked,
  checkPeople,
  checkWarehouse,
  type Finding,
  FindingList,
  limitedTo,
  type PulledAgain,
  pullAgain,
  type Sampling,
  type Severity,
} from '../src/verify/index.ts';
import { readWarehouse } from '../src/warehouse/index.ts';
import { chooseOrganizations, openTransport, requireApi, settingsFor } from './access.ts';
import { observerFor } from './round.ts';

/** What to verify besides the warehouse itself. */
export interface VerifyRequest {
  /** Units to pull again and compare; 0 sends nothing. */
  readonly againstApi: number;
  /** The only organization to verify, by its ID or name. @default all */
  readonly organization?: string | undefined;
  /** Chooses the units; random by default. */
  readonly seed?: number | undefined;
}

export interface Verification extends Readonly<Checked> {
  readonly warehouse: string;
  /** What was pulled again; null when nothing was requested. */
  readonly pulledAgain: PulledAgain | null;
  /** The comparison of each organization of the organizations file; absent without one, or if nothing was requested. */
  readonly organizations?: readonly ComparedOrganization[];
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
 * `againstApi` units with the service, of each organization of the organizations file if there is one. Reads one state of
 * the warehouse and writes nothing.
 * @throws {UsageError} when there is no warehouse, no such organization, or no key to pull with.
 * @throws {CredentialError} and every other error that ends a run, when units are pulled without an organizations file.
 */
export function verifyWarehouse(
  settings: Settings,
  { againstApi, organization, seed = Math.floor(systemRandom() * SEEDS) }: VerifyRequest,
  context: JobContext<RunEvent>,
): Promise<Verification> {
  // Refused before the warehouse is read, which may take an hour.
  if (againstApi > 0 && settings.organizationsFile === null) requireApi(settings);
  return readWarehouse(settings.warehouse, { clock: context.clock }, async (warehouse) => {
    const findings = new FindingList();
    const checked: Checked = { units: 0, rows: 0, comparisons: 0 };
    const only = organization === undefined ? undefined : await chooseOrganization(warehouse, organization);
    const damages = await warehouse.inSnapshot(() => checkAll(warehouse, findings, checked, only));
    const isCompared = againstApi > 0 && damages.length === 0;
    const sample = { warehouse, findings, units: againstApi, seed };
    const compared = isCompared ? await compare(settings, sample, context, only) : { pulledAgain: null };
    const { counts, listed } = findings;
    return { warehouse: warehouse.location, ...checked, ...compared, damages, counts, findings: listed };
  });
}

async function compare(
  settings: Settings,
  sample: Sample,
  context: JobContext<RunEvent>,
  only: string | undefined,
): Promise<Pick<Verification, 'pulledAgain' | 'organizations'>> {
  if (settings.organizationsFile === null) {
    const orgId = settings.orgId ?? only ?? null;
    return { pulledAgain: await sampleService({ ...settings, orgId }, sample, context) };
  }
  const listed = await listOrganizations(sample.warehouse, namesOf(settings));
  const chosen = chooseOrganizations(settings).filter(({ name }) =>
    listed.some((known) => known.name === name && (only === undefined || known.orgId === only)),
  );
  const organizations = await sampleServices(settings, chosen, sample, context);
  return { pulledAgain: sumOf(organizations, sample.seed), organizations };
}

/** Checks everything that can be read. Returns what cannot be read. */
async function checkAll(
  warehouse: Warehouse,
  findings: FindingList,
  checked: Checked,
  only: string | undefined,
): Promise<string[]> {
  try {
    await checkWarehouse(warehouse, findings, checked, only);
    await checkPeople(only === undefined ? warehouse : limitedTo(warehouse, only), findings);
    return await warehouse.damages();
  } catch (error) {
    if (error instanceof DamagedError) return [messageOf(error)];
    throw error;
  }
}

/** The exit code of a verification. */
export function exitCodeOf({ damages, counts, organizations = [] }: Verification): ExitCode {
  return worstExit([
    ...organizations.map(({ exitCode }) => exitCode),
    damages.length > 0 ? EXIT.storage : EXIT.ok,
    counts.broken + counts.impossible + counts.hole + counts.difference > 0 ? EXIT.quarantine : EXIT.ok,
    counts.unanswered > 0 ? EXIT.upstream : EXIT.ok,
  ]);
}

/** Which units to pull again, and where the findings go. */
type Sample = Pick<Sampling, 'warehouse' | 'findings' | 'units' | 'seed'>;

/** The comparison of one organization of the organizations file with its service. */
interface ComparedOrganization {
  readonly name: string;
  readonly exitCode: ExitCode;
  /** Null if nothing could be pulled. */
  readonly pulledAgain: PulledAgain | null;
  /** Why nothing could be pulled; null otherwise. */
  readonly error: unknown;
}

/**
 * Pulls units of one organization again and compares them with the stored ones.
 * @throws {CredentialError} and every other error that ends a run.
 */
async function sampleService(
  settings: Settings,
  sample: Sample & Pick<Sampling, 'named'>,
  { clock, observe, signal }: JobContext<RunEvent>,
): Promise<PulledAgain> {
  const api = requireApi(settings);
  const onRetry = (retry: Retry) => observe({ type: 'retry', ...retry });
  const gate = await openGate(sample.warehouse, settings.emails);
  const transport = openTransport(settings, api, { clock, onRetry, gate });
  try {
    return await pullAgain({
      ...sample,
      source: { transport, hosts: api, gate },
      orgId: settings.orgId,
      lastDay: yesterdayOf(clock.now()),
      signal,
    });
  } finally {
    await transport.close();
  }
}

/** Does it for organizations of the file, each with its own key. A failure of one does not stop the others. */
async function sampleServices(
  settings: Settings,
  organizations: readonly NamedOrganization[],
  sample: Sample,
  context: JobContext<RunEvent>,
): Promise<ComparedOrganization[]> {
  const names = namesOf(settings) ?? [];
  const compared: ComparedOrganization[] = [];
  for (const organization of organizations) {
    const { name } = organization;
    const observe = observerFor(name, context.observe);
    try {
      context.signal.throwIfAborted();
      const own = settingsFor(settings, organization);
      const pulledAgain = await sampleService(
        own,
        { ...sample, named: { name, names } },
        { ...context, observe },
      );
      compared.push({ name, exitCode: EXIT.ok, pulledAgain, error: null });
    } catch (error) {
      const exitCode = error instanceof DaywalkError ? error.exitCode : EXIT.defect;
      compared.push({ name, exitCode, pulledAgain: null, error });
    }
  }
  return compared;
}

/** What was pulled again of all organizations together; null if nothing was. */
function sumOf(compared: readonly ComparedOrganization[], seed: number): PulledAgain | null {
  const pulled = compared.flatMap(({ pulledAgain }) => pulledAgain ?? []);
  if (pulled.length === 0) return null;
  return {
    seed,
    units: pulled.reduce((sum, { units }) => sum + units, 0),
    requests: pulled.reduce((sum, { requests }) => sum + requests, 0),
  };
}
