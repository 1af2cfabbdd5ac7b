import type { Retry } from '../src/api/transport/transport.ts';
import { yesterdayOf } from '../src/core/day.ts';
import { DaywalkError } from '../src/core/errors.ts';
import { EXIT, type ExitCode } from '../src/core/exit-code.ts';
import type { JobContext } from '../src/core/job-context.ts';
import type { RunEvent } from '../src/pipeline/events.ts';
import { privacyOf } from '../src/privacy/email.ts';
import { openTransport } from '../src/settings/open-transport.ts';
import { namesOf, settingsFor } from '../src/settings/organizations/choose-organizations.ts';
import type { NamedOrganization } from '../src/settings/organizations/read-organizations.ts';
import { requireApi } from '../src/settings/require-api.ts';
import type { Settings } from '../src/settings/settings.ts';
import { type PulledAgain, pullAgain, type Sampling } from '../src/verify/against-api.ts';
import { observerFor } from './organization-events.ts';

/** Which units to pull again, and where the findings go. */
export type Sample = Pick<Sampling, 'warehouse' | 'findings' | 'units' | 'seed'>;

/** The comparison of one organization of the organizations file with its service. */
export interface ComparedOrganization {
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
export async function sampleService(
  settings: Settings,
  sample: Sample & Pick<Sampling, 'named'>,
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

/** Does it for organizations of the file, each with its own key. A failure of one does not stop the others. */
export async function sampleServices(
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
export function sumOf(compared: readonly ComparedOrganization[], seed: number): PulledAgain | null {
  const pulled = compared.flatMap(({ pulledAgain }) => pulledAgain ?? []);
  if (pulled.length === 0) return null;
  return {
    seed,
    units: pulled.reduce((sum, { units }) => sum + units, 0),
    requests: pulled.reduce((sum, { requests }) => sum + requests, 0),
  };
}
