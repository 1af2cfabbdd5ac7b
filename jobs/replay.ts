import {
  archiveBytes,
  type ChosenAnswers,
  compareArchive,
  keptOutOfArchive,
  partsOf,
  type ReadArchives,
  type ReplayScope,
  withArchives,
  withCommitted,
} from '../src/archive/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { FIRST_DAY, isDay, parseDay, type UtcDay, yesterdayOf } from '../src/core/day.ts';
import { type Advice, adviceOf, UsageError } from '../src/core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../src/core/exit-code.ts';
import { packageVersion } from '../src/core/files.ts';
import { canonicalJson } from '../src/core/json.ts';
import { isDailyStream, type Stream } from '../src/core/stream.ts';
import { ensureIdentity, expectMatch, readWarehouseSide } from '../src/identity/index.ts';
import { joinKeptOut, keptOutOrganization } from '../src/kept-out/index.ts';
import { readOrganizationIds } from '../src/ledger/index.ts';
import { type ReplayedOrganization, type ReplayReport, replayOrganization } from '../src/pipeline/index.ts';
import { shareErasures, sweepOptions } from '../src/places/index.ts';
import { comparePolicy, expectEmailSalt, openGate } from '../src/policy/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import { type Gate, policyFingerprint } from '../src/privacy/index.ts';
import { readState, writeState } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { sweepLearned } from '../src/sweep/index.ts';
import { takeLock, withWarehouse } from '../src/warehouse/index.ts';
import { keptUsersFrom, requireArchives } from './archive.ts';
import { passOlder } from './privacy.ts';
import { expireAfter } from './retention.ts';

/** Reports that are read at once. */
const PAGE_REPORTS = 100;
/** The name under which the warehouse keeps the instant that it was rebuilt for. */
const MARK = 'replayed-as-of';

/** What to replay. */
export interface ReplayRequest {
  /** @default the first day of the service */
  readonly from?: UtcDay | undefined;
  /** @default yesterday (UTC) */
  readonly until?: UtcDay | undefined;
  readonly streams: readonly Stream[];
  /** What was committed by this instant. @default the newest */
  readonly asOf?: Date | undefined;
  /** Wait for a run to end instead of failing with exit code 75. */
  readonly wait: boolean;
}

/** What a replay reports while it works. */
type Warning = { readonly type: 'warning'; readonly message: string } & Advice;

/** The result of a replay. */
export interface ReplayResult {
  readonly exitCode: ExitCode;
  readonly from: UtcDay;
  readonly until: UtcDay;
  /** An ISO instant; null for the newest answers. */
  readonly asOf: string | null;
  readonly organizations: readonly ReplayReport[];
  /** Units whose newest archived answer is lost; they stay as they are. */
  readonly lost: readonly string[];
}

/**
 * Rebuilds the warehouse from archived answers, without a request. May be repeated and interrupted at will. What cannot be read in
 * a damaged archive is left out and named.
 * @throws {UsageError} if the archive cannot answer, or the warehouse is not empty and an instant is asked for.
 * @throws {StorageError} if the archive is of other warehouses, and has an organization that this one does not know.
 * @throws {BusyError} if new addresses of people who are kept out cannot be swept now; everything is stored, and a repetition sweeps.
 */
export async function replay(
  settings: Settings,
  request: ReplayRequest,
  { clock, signal, observe, upgraded }: JobContext<Warning>,
): Promise<ReplayResult> {
  const archives = requireArchives(settings);
  const { emails, warehouse: location } = settings;
  const firstDay = request.from ?? FIRST_DAY;
  const lastDay = request.until ?? yesterdayOf(clock.now());
  const asOf = request.asOf ?? null;
  const none = archives.find((archive) => archiveBytes(archive) === 0);
  if (none !== undefined) throw new UsageError(`there is no archive at ${none}`, { reason: 'no-archive' });
  return withWarehouse(location, { clock, signal, upgraded, create: true }, async (warehouse) => {
    let lock = await takeLock(warehouse, { clock, signal, wait: request.wait, exclusive: true });
    try {
      if (asOf !== null) await expectEmpty(warehouse, asOf);
      await expectEmailSalt(warehouse, emails, false);
      if ((await comparePolicy(warehouse, emails)) === 'pass') {
        const patience = { clock, signal, wait: request.wait, exclusive: true };
        ({ lock } = await passOlder({ warehouse, lock }, settings, patience));
      }
      const { streams } = request;
      const policy = policyFingerprint(emails);
      const scope = { firstDay, lastDay, streams, asOf, emails: emails.mode, policy };
      for (const archive of archives) await expectKnown(warehouse, archive, scope);
      await shareErasures(warehouse, settings, observe);
      // Before there is a key of pseudonyms: those in an archive are its own, and those of later runs must be the same.
      for (const archive of archives)
        await joinKeptOut(warehouse, await keptOutOfArchive(archive), new Set());
      const gate = await openGate(warehouse, emails, { usersFrom: keptUsersFrom(settings, clock) });
      const kept = { ...scope, streams: streams.filter((stream) => gate.keepsPeople || stream !== 'users') };
      const place = { warehouse, gate, clock, signal, observe };
      const replayed = await withArchives(archives, place, (read) => replayAll(read, kept, place));
      await sweepLearned(await sweepOptions(warehouse, settings, { clock, signal }));
      await expireAfter({ warehouse, lock }, settings, { clock, signal });
      const codes = replayed.organizations.map(({ exitCode }) => exitCode);
      const exitCode = worstExit([replayed.lost.length > 0 ? EXIT.storage : EXIT.ok, ...codes]);
      return { exitCode, from: firstDay, until: lastDay, asOf: asOf?.toISOString() ?? null, ...replayed };
    } catch (error) {
      await warehouse.discardNew();
      throw error;
    } finally {
      await lock.release();
    }
  });
}

/** An archive of other warehouses must not bring an organization of theirs into this one; days of its own it may repair. */
async function expectKnown(warehouse: Warehouse, archive: string, scope: ReplayScope): Promise<void> {
  const known = await readOrganizationIds(warehouse);
  const found = await compareArchive({ archive, warehouse });
  if (known.length === 0 || !['archive-unknown', 'warehouse-unknown'].includes(found.mismatch ?? '')) return;
  const { organizations } = await withCommitted(archive, async ({ choose }) => choose(scope));
  if (organizations.some(({ orgId }) => !known.includes(orgId)))
    expectMatch(found, { warehouse: warehouse.location, archive });
}

async function replayAll(
  archives: ReadArchives,
  scope: ReplayScope,
  place: Omit<JobContext<Warning>, 'upgraded'> & { readonly warehouse: Warehouse; readonly gate: Gate },
): Promise<Pick<ReplayResult, 'organizations' | 'lost'>> {
  const { organizations: chosen, lost } = archives.choose(scope);
  const organizations: ReplayReport[] = [];
  const { side } = await readWarehouseSide(place.warehouse, null);
  // A warehouse that is rebuilt is a new one, made from the one that wrote the archive.
  if (side.isNew) {
    const [id, ...parents] = archives.warehouses;
    const parent = id === undefined ? null : { id, parents };
    await ensureIdentity(place.warehouse, { parent, madeBy: 'replay', at: place.clock.now() });
  }
  const isErased = ({ orgId }: ChosenAnswers) => keptOutOrganization(place.gate.keptOut, orgId) !== undefined;
  const { left = [], kept = [] } = Object.groupBy(chosen, (each) => (isErased(each) ? 'left' : 'kept'));
  for (const { orgId } of left) {
    const message = `the organization ${orgId} was erased: it is not replayed, and goes from the archive`;
    place.observe({ type: 'warning', message, hint: undefined });
  }
  for (const answers of kept)
    organizations.push(
      await replayOrganization(replayedFrom(archives, answers, place.gate), {
        ...place,
        versions: { daywalk: packageVersion(), node: process.versions.node },
      }),
    );
  return { organizations, lost };
}

/** The past can only be rebuilt where nothing else is, or where the same replay was interrupted. */
async function expectEmpty(warehouse: Warehouse, asOf: Date): Promise<void> {
  const mark = canonicalJson(asOf.toISOString());
  if ((await readState(warehouse, '', MARK)) === mark) return;
  if ((await readOrganizationIds(warehouse)).length > 0)
    throw new UsageError(
      `${warehouse.location} is not empty, and the past is rebuilt in an empty warehouse only`,
      { hint: 'name a new warehouse' },
    );
  await writeState(warehouse, '', MARK, mark);
}

function replayedFrom(
  archives: ReadArchives,
  { orgId, days, readiness }: ChosenAnswers,
  gate: Gate,
): ReplayedOrganization {
  return {
    orgId,
    days: days.flatMap(({ archive, unit, object, ...answer }) => {
      const { stream, day } = partsOf(unit);
      if (!isDailyStream(stream) || !isDay(day)) return [];
      if (stream === 'users' && !gate.keepsUsersOf(day)) return [];
      return {
        ...{ orgId, stream, day, pulledAt: new Date(answer.at) },
        ...{ isOwn: answer.own, requests: answer.requests, today: parseDay(answer.today) },
        settleDays: answer.settleDays,
        pages: async () => (object === null ? [] : readablePages(archives, { archive, sha256: object })),
      };
    }),
    readiness: readiness && readinessFrom(archives, orgId, readiness),
  };
}

function readinessFrom(
  archives: ReadArchives,
  orgId: string,
  { last, objects, ...found }: NonNullable<ChosenAnswers['readiness']>,
): NonNullable<ReplayedOrganization['readiness']> {
  let { isPartial } = found;
  return {
    ...{ orgId, pulledAt: new Date(last.at), cursor: last.cursor },
    pages: async function* () {
      for (let start = 0; start < objects.length; start += PAGE_REPORTS) {
        const page: string[] = [];
        for (const object of objects.slice(start, start + PAGE_REPORTS)) {
          const texts = await readablePages(archives, object);
          if (texts === null) isPartial = true;
          else page.push(...texts);
        }
        yield page;
      }
    },
    isPartial: () => isPartial,
  };
}

/** The rows of an object; null if they cannot be read. */
async function readablePages(
  archives: ReadArchives,
  object: Parameters<ReadArchives['pagesOf']>[0],
): Promise<string[] | null> {
  try {
    return await archives.pagesOf(object);
  } catch (error) {
    if (adviceOf(error).reason === 'archive-damaged') return null;
    throw error;
  }
}
