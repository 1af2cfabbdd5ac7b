import { utc } from '@date-fns/utc';
import { subDays } from 'date-fns/subDays';
import { type ChosenAnswers, chooseAnswers } from '../src/archive/choose.ts';
import { contentsOf } from '../src/archive/contents.ts';
import { shareErased } from '../src/archive/erased-file.ts';
import type { ObjectRef } from '../src/archive/lines.ts';
import { type ObjectReader, withObjects } from '../src/archive/object-reader.ts';
import { type Pruned, pruneArchive } from '../src/archive/prune.ts';
import { readSoundIndex } from '../src/archive/read-archive.ts';
import { reconcile } from '../src/archive/reconcile.ts';
import { splitPages } from '../src/archive/rows-text.ts';
import { type ShownAnswers, type ShownUnit, showAnswers } from '../src/archive/show-answers.ts';
import { type ArchiveCheck, verifyArchive } from '../src/archive/verify-archive.ts';
import type { JobContext } from '../src/core/clock.ts';
import { FIRST_DAY, parseDay, type UtcDay, yesterdayOf } from '../src/core/day.ts';
import { UsageError } from '../src/core/errors.ts';
import { EXIT, type ExitCode, worstExit } from '../src/core/exit-code.ts';
import { packageVersion } from '../src/core/files.ts';
import { canonicalJson } from '../src/core/json.ts';
import { isDailyStream, type Stream } from '../src/core/stream.ts';
import { sweepLearned } from '../src/erase/sweep-learned.ts';
import { readOrganizations } from '../src/ledger/index.ts';
import { type ReplayedOrganization, type ReplayReport, replayOrganization } from '../src/pipeline/index.ts';
import type { Warehouse } from '../src/port/index.ts';
import { privacyOf } from '../src/privacy/index.ts';
import { expectEmailSalt, readState, writeState } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import { takeLock, withWarehouse } from '../src/warehouse/index.ts';
import { erasureOptions } from './erase.ts';

/**
 * Compares every line of the archive's index and every object. Writes nothing.
 * @throws {UsageError} if there is no archive.
 */
export function checkArchive(settings: Settings): Promise<ArchiveCheck> {
  return verifyArchive(archiveFolder(settings));
}

/**
 * What came about a unit, and when. Writes nothing.
 * @throws {UsageError} if there is no archive.
 */
export function showArchive(settings: Settings, unit: ShownUnit): Promise<ShownAnswers> {
  return showAnswers(archiveFolder(settings), unit);
}

/** What to remove from the archive. */
interface PruneRequest {
  /** Answers are removed once they are older and no later replay needs them. */
  readonly olderThanDays: number;
  readonly isDryRun: boolean;
}

/**
 * Thins out the archive. May be repeated, also after a kill.
 * @throws {BusyError} while a run writes it.
 * @throws {UsageError} if there is no archive.
 */
export function thinArchive(
  settings: Settings,
  { olderThanDays, isDryRun }: PruneRequest,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<Pruned> {
  const now = clock.now();
  const before = subDays(now, olderThanDays, { in: utc });
  return pruneArchive(archiveFolder(settings), { before, now, isDryRun });
}

/**
 * The folder of the archive.
 * @throws {UsageError} if the settings name none.
 */
function archiveFolder({ archive }: Settings): string {
  if (archive !== null) return archive;
  throw new UsageError('no archive is named', { reason: 'no-archive' });
}

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

/** The result of a replay. */
export interface ReplayResult {
  readonly exitCode: ExitCode;
  readonly from: UtcDay;
  readonly until: UtcDay;
  /** An ISO instant; null for the newest answers. */
  readonly asOf: string | null;
  readonly organizations: readonly ReplayReport[];
}

/**
 * Rebuilds the warehouse from archived answers, without a request. May be repeated and interrupted at will.
 * @throws {UsageError} if the archive cannot answer, or the warehouse is not empty and an instant is asked for.
 * @throws {StorageError} if the archive is damaged; the units before stay.
 * @throws {BusyError} if new addresses of erased people cannot be swept now; everything is stored, and a repetition sweeps.
 */
export async function replay(
  settings: Settings,
  request: ReplayRequest,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<ReplayResult> {
  const folder = archiveFolder(settings);
  const files = await readSoundIndex(folder);
  const { emails, warehouse: location } = settings;
  const firstDay = request.from ?? FIRST_DAY;
  const lastDay = request.until ?? yesterdayOf(clock.now());
  const asOf = request.asOf ?? null;
  return withWarehouse(location, { clock, signal, create: true }, async (warehouse) => {
    const lock = await takeLock(warehouse, { clock, signal, wait: request.wait, exclusive: true });
    try {
      if (asOf !== null) await expectEmpty(warehouse, asOf);
      await expectEmailSalt(warehouse, emails, false);
      await shareErased(folder, warehouse);
      const contents = contentsOf([...files, { lines: await reconcile(files, warehouse) }]);
      const policy = privacyOf(emails).fingerprint;
      const scope = { firstDay, lastDay, streams: request.streams, asOf, emails: emails.mode, policy };
      const chosen = chooseAnswers(contents, scope);
      const organizations: ReplayReport[] = [];
      for (const answers of chosen) {
        const options = { warehouse, clock, signal, versions: versions() };
        const replayOne = (objects: ObjectReader) => replayOrganization(replayed(answers, objects), options);
        organizations.push(await withObjects(folder, replayOne));
      }
      await sweepLearned(await erasureOptions(warehouse, settings, { clock, signal }));
      const exitCode = worstExit([EXIT.ok, ...organizations.map(({ exitCode }) => exitCode)]);
      return { exitCode, from: firstDay, until: lastDay, asOf: asOf?.toISOString() ?? null, organizations };
    } finally {
      await lock.release();
    }
  });
}

function versions(): Readonly<Record<string, string>> {
  return { daywalk: packageVersion(), node: process.versions.node };
}

/** The past can only be rebuilt where nothing else is, or where the same replay was interrupted. */
async function expectEmpty(warehouse: Warehouse, asOf: Date): Promise<void> {
  const mark = canonicalJson(asOf.toISOString());
  if ((await readState(warehouse, '', MARK)) === mark) return;
  if ((await readOrganizations(warehouse)).length > 0) {
    throw new UsageError(
      `${warehouse.location} is not empty, and the past is rebuilt in an empty warehouse only`,
      {
        hint: 'name a new warehouse',
      },
    );
  }
  await writeState(warehouse, '', MARK, mark);
}

function replayed({ orgId, days, readiness }: ChosenAnswers, objects: ObjectReader): ReplayedOrganization {
  const pagesOf = async (object: ObjectRef | null) =>
    object === null ? [] : splitPages(await objects.get(object));
  return {
    orgId,
    days: days.flatMap((line) =>
      isDailyStream(line.stream)
        ? {
            ...{ orgId, stream: line.stream, day: parseDay(line.day), pulledAt: new Date(line.at) },
            ...{ isOwn: line.own, requests: line.requests, today: parseDay(line.today) },
            ...{ settleDays: line.settleDays, emails: line.emails, pages: () => pagesOf(line.object) },
          }
        : [],
    ),
    readiness: readiness && {
      ...{ orgId, pulledAt: new Date(readiness.last.at), cursor: readiness.last.cursor },
      emails: readiness.last.emails,
      pages: async function* () {
        for (let start = 0; start < readiness.objects.length; start += PAGE_REPORTS) {
          const page: string[] = [];
          for (const object of readiness.objects.slice(start, start + PAGE_REPORTS))
            page.push(...(await pagesOf(object)));
          yield page;
        }
      },
    },
  };
}
