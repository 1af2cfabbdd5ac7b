import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expectSweepable, withArchives } from '../src/archive/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { type Advice, UsageError } from '../src/core/errors.ts';
import { replaceFile } from '../src/core/files.ts';
import { dueSweeps, noteErasures, type Subject } from '../src/kept-out/index.ts';
import { chooseOrganization, readNames } from '../src/organizations/index.ts';
import { expectAllArchives, meetArchives, sweepOptions } from '../src/places/index.ts';
import { checkEmailSalt } from '../src/policy/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import { NOBODY } from '../src/privacy/index.ts';
import type { Settings } from '../src/settings/index.ts';
import {
  type Certificate,
  countErasure,
  countOthers,
  erase,
  findListed,
  findSubjects,
  isOpen,
  type JoinedPolicy,
  personOf,
  planErasure,
  readPlan,
  type SweepOptions,
  subjectsOf,
} from '../src/sweep/index.ts';
import { readWarehouse, takeLock, withWarehouse } from '../src/warehouse/index.ts';

/** Whom to erase: a person by user ID or email address; an organization if neither is given. */
export interface ErasureRequest {
  readonly user?: string | undefined;
  readonly email?: string | undefined;
  /** ID or recorded name. @default the only organization of the warehouse, for a person */
  readonly organization?: string | undefined;
  readonly isDryRun: boolean;
  /** Remove archived rows that cannot be read. @default false: they end the erasure before it changes anything */
  readonly dropsDamaged?: boolean;
  /** What becomes of joined forms of the ID and the addresses. @default they are named */
  readonly joined?: JoinedPolicy | undefined;
  /** Where to write the certificate; it must not exist yet. */
  readonly certificate?: string | undefined;
  /** Wait for a run to end instead of failing with exit code 75. */
  readonly wait: boolean;
}

/** What an erasure reports before it changes anything. */
type ErasureEvent = { readonly type: 'warning'; readonly message: string } & Advice;

/** The result of an erasure, or what it would be. */
export interface ErasureResult {
  readonly isDryRun: boolean;
  /** Nothing was left to do: the certificate is that of an earlier call. */
  readonly isRepeated: boolean;
  /** The erasure that an earlier, interrupted call had begun; it was completed first. */
  readonly resumed: Certificate | null;
  readonly certificate: Certificate;
}

/**
 * Erases one person, or an organization, from the warehouse, the archive and the spool. An interrupted erasure is completed
 * first by the next call.
 * @throws {UsageError} if the person is not found or not clear, or an archive that runs have written is not named.
 * @throws {BusyError} while a run holds the warehouse or another program reads a SQLite warehouse; a repetition resumes.
 * @throws {StorageError} if an archive is damaged; nothing is changed then.
 */
export async function erasePerson(
  settings: Settings,
  request: ErasureRequest,
  { clock, signal, observe, upgraded }: JobContext<ErasureEvent>,
): Promise<ErasureResult> {
  expectNewFile(request.certificate);
  const { warehouse: location, emails } = settings;
  // Who only counts does not upgrade.
  if (request.isDryRun) await readWarehouse(location, { clock, signal }, async () => undefined);
  return withWarehouse(location, { clock, signal, upgraded, create: false }, async (warehouse) => {
    const lock = await takeLock(warehouse, { clock, signal, wait: request.wait, exclusive: true });
    try {
      await checkEmailSalt(warehouse, emails);
      const { archives, copies } = await expectAllArchives(warehouse, settings);
      const options = await sweepOptions(warehouse, settings, { clock, signal }, [...archives, ...copies]);
      const { dropsDamaged = false } = request;
      for (const archive of options.archives) await expectSweepable(archive, { dropsDamaged });
      // A file that cannot be written is found before anything is changed.
      if (options.erasures !== null && !request.isDryRun) noteErasures(options.erasures, NOBODY);
      const optionsOf = (orgId: string): SweepOptions => ({ ...options, dropsDamaged, orgId });
      const warn = (message: string, hint: string) => observe({ type: 'warning', message, hint });
      const swept = { archives, leavesArchiveOut: true };
      const met = request.isDryRun ? null : await meetArchives(warehouse, swept, { clock, signal, warn });
      // The warehouse gets their lists before it is swept. Only one file of an archive tells the warehouse its marks.
      for (const copy of request.isDryRun ? [] : copies)
        await withArchives([copy], { warehouse, clock, signal }, () => Promise.resolve());
      const pending = await readPlan(warehouse);
      const resumed =
        pending === null || request.isDryRun ? null : await erase(optionsOf(pending.orgId), pending.plan);
      const result = await eraseRequested(warehouse, settings, { request, resumed, optionsOf, observe });
      if (request.certificate !== undefined && !request.isDryRun)
        await replaceFile(request.certificate, `${JSON.stringify(result.certificate, null, 2)}\n`);
      await met?.part(true);
      return result;
    } finally {
      await lock.release();
    }
  });
}

interface Step {
  readonly request: ErasureRequest;
  readonly resumed: Certificate | null;
  readonly optionsOf: (orgId: string) => SweepOptions;
  readonly observe: JobContext<ErasureEvent>['observe'];
}

async function eraseRequested(warehouse: Warehouse, settings: Settings, step: Step): Promise<ErasureResult> {
  try {
    return await eraseFound(warehouse, settings, step);
  } catch (error) {
    // Whoever was erased before is found nowhere.
    const before = error instanceof UsageError ? await erasedBefore(warehouse, settings, step) : null;
    if (before === null) throw error;
    return before;
  }
}

async function eraseFound(
  warehouse: Warehouse,
  settings: Settings,
  { request, resumed, optionsOf, observe }: Step,
): Promise<ErasureResult> {
  const { isDryRun } = request;
  const isOrganization = namesOrganization(request);
  if (isOrganization && request.organization === undefined) {
    throw new UsageError('nothing to erase is named', {
      hint: 'name a person with --user or --email, or an organization with --organization',
    });
  }
  const orgId = await chooseOrganization(warehouse, request.organization);
  const options = optionsOf(orgId);
  const subjects: Subject[] = isOrganization
    ? await organizationSubjects(warehouse, orgId)
    : await findSubjects(warehouse, orgId, await personOf(warehouse, request, settings.emails));
  const others = await countOthers(warehouse, orgId, subjects);
  if (others > 0) {
    const message = `other users who have had an address of this person: ${others}; it is replaced for them too`;
    observe({ type: 'warning', message, hint: undefined });
  }
  const plan = await planErasure(options, subjects, { joined: request.joined ?? 'name' });
  // A user is stored; an address may be a mistake.
  const isKnown = isOrganization || subjects.some(({ kind }) => kind === 'user');
  const counted = isDryRun || !isKnown ? await countErasure(options, plan) : plan.certificate;
  if (!isKnown && isNothing(counted)) {
    throw new UsageError(`the organization ${orgId} has nothing of this person`, {
      hint: 'check the user ID or the address; nothing was changed',
    });
  }
  const certificate = isDryRun ? counted : await erase(options, plan);
  return { isDryRun, isRepeated: false, resumed, certificate };
}

/** The result for somebody who is on the list already. Null for anybody else: they must not be reported as erased. */
async function erasedBefore(
  warehouse: Warehouse,
  settings: Settings,
  { request, resumed, optionsOf }: Step,
): Promise<ErasureResult | null> {
  const { isDryRun, organization = '' } = request;
  const isOrganization = namesOrganization(request);
  const orgId = isOrganization ? null : await chooseOrganization(warehouse, request.organization);
  const subjects = isOrganization
    ? [{ kind: 'organization' as const, value: organization }]
    : subjectsOf(await personOf(warehouse, request, settings.emails));
  const found = await findListed(warehouse, orgId, subjects);
  if (found === null) return null;
  const { certificate: before } = found;
  const isDue = (await dueSweeps(warehouse)).includes(found.orgId);
  if (before !== null && !isDue && !searchesAgain(before, request.joined)) {
    // What their client tool has sent since is replaced as it is stored.
    if (!isDryRun) await optionsOf(found.orgId).drain();
    const isRepeated = before.completed_at !== resumed?.completed_at;
    return { isDryRun, isRepeated, resumed: isRepeated ? resumed : null, certificate: before };
  }
  // Another warehouse has erased them, and nothing was swept here; or joined forms are left.
  const options = optionsOf(found.orgId);
  const again = { joined: request.joined ?? 'name', before: before ?? undefined };
  const plan = await planErasure(options, subjects, again);
  const certificate = await (isDryRun ? countErasure(options, plan) : erase(options, plan));
  return { isDryRun, isRepeated: false, resumed, certificate };
}

/** True if a repetition may change what was found of joined forms. */
function searchesAgain({ joined, kind }: Certificate, policy: JoinedPolicy | undefined): boolean {
  if (isOpen(joined)) return true;
  const isAccepted = joined?.found.some(({ outcome }) => outcome === 'accepted') ?? true;
  return kind === 'person' && policy === 'replace' && isAccepted;
}

function namesOrganization({ user, email }: ErasureRequest): boolean {
  return user === undefined && email === undefined;
}

/** Its ID, and the names that go with its rows: a repetition may name it by one of them. */
async function organizationSubjects(warehouse: Warehouse, orgId: string): Promise<Subject[]> {
  const recorded = (await readNames(warehouse)).filter((each) => each.orgId === orgId);
  return [orgId, ...recorded.map(({ name }) => name)].map((value) => ({ kind: 'organization', value }));
}

function isNothing({ rows, archive, spool_lines: lines }: Certificate): boolean {
  return Object.keys(rows).length === 0 && (archive?.objects ?? 0) === 0 && lines === 0;
}

function expectNewFile(path: string | undefined): void {
  if (path === undefined) return;
  if (existsSync(path))
    throw new UsageError(`the certificate ${path} exists already`, { hint: 'name a new file' });
  if (!existsSync(dirname(path)))
    throw new UsageError(`the certificate ${path} lies in no folder`, { hint: 'create the folder first' });
}
