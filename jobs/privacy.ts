import { existsSync, writeFileSync } from 'node:fs';
import { sql } from '../schema/query.ts';
import { archiveBytes } from '../src/archive/index.ts';
import type { JobContext } from '../src/core/clock.ts';
import { type Advice, UsageError } from '../src/core/errors.ts';
import { expectFolderOf, explainWriteError, hasCode } from '../src/core/files.ts';
import { agreeContract } from '../src/expected/index.ts';
import type { Subject } from '../src/kept-out/index.ts';
import { readOrganizationIds } from '../src/ledger/index.ts';
import { chooseOrganization } from '../src/organizations/index.ts';
import { expectAllArchives, sweepOptions } from '../src/places/index.ts';
import { beginPassing, checkEmailSalt, endPassing, expectEmailSalt, openGate } from '../src/policy/index.ts';
import type { RunLock, Warehouse } from '../src/port/index.ts';
import { lakesThere } from '../src/publish/index.ts';
import { readPublished } from '../src/records/index.ts';
import type { Settings } from '../src/settings/index.ts';
import {
  findListed,
  findSubjects,
  type HeldRecord,
  heldRecords,
  type PassedCounts,
  passAll,
  personOf,
  subjectsOf,
} from '../src/sweep/index.ts';
import { readWarehouse, takeLock, withWarehouse } from '../src/warehouse/index.ts';

/** Whom to look for: by user ID or email address. */
export interface PersonRequest {
  readonly user?: string | undefined;
  readonly email?: string | undefined;
  /** ID or recorded name. @default the only organization of the warehouse */
  readonly organization?: string | undefined;
}

/** What a warehouse knows of a person. */
export type ShownPerson =
  | { readonly state: 'erased'; readonly orgId: string; readonly erasedAt: string }
  | {
      readonly state: 'known';
      readonly orgId: string;
      /** The first and the last day with a row under the ID; null if there is none. */
      readonly firstDay: string | null;
      readonly lastDay: string | null;
      /** Rows by table; rows of `archive` and lines of `spool`. */
      readonly places: Readonly<Record<string, number>>;
    };

/**
 * Since when somebody is known and where, or when they were erased. Writes nothing.
 * @throws {UsageError} if nothing is held about them and they were not erased, or if several users have had the address.
 */
export function showPerson(
  settings: Settings,
  request: PersonRequest,
  context: Pick<JobContext, 'clock' | 'signal'>,
): Promise<ShownPerson> {
  return withPerson(settings, request, context, async ({ orgId, days, records }) => {
    const places: Record<string, number> = {};
    for await (const { place } of records) places[place] = (places[place] ?? 0) + 1;
    if (Object.keys(places).length === 0) return null;
    return { state: 'known', orgId, ...days, places };
  });
}

/**
 * Writes everything that is held about somebody to a new file as JSON, which only its owner may read. Other people in it are masked. Writes no
 * file for somebody who was erased.
 * @throws {UsageError} as {@link showPerson}, or if the file exists.
 */
export function exportPerson(
  settings: Settings,
  { out, ...request }: PersonRequest & { readonly out: string },
  context: Pick<JobContext, 'clock' | 'signal'>,
): Promise<ShownPerson> {
  if (existsSync(out)) throw fileExists(out);
  expectFolderOf(out);
  return withPerson(settings, request, context, async ({ orgId, days, subjects, records }) => {
    const places: Record<string, number> = {};
    const held: HeldRecord[] = [];
    for await (const record of records) {
      places[record.place] = (places[record.place] ?? 0) + 1;
      held.push(record);
    }
    if (held.length === 0) return null;
    const valuesOf = (kind: Subject['kind']) =>
      subjects.filter((subject) => subject.kind === kind).map(({ value }) => value);
    const file = {
      ...{ format: 'daywalk person', version: 1, made_at: context.clock.now().toISOString(), org_id: orgId },
      ...{ user_ids: valuesOf('user'), emails: valuesOf('email') },
      ...{ first_day: days.firstDay, last_day: days.lastDay, places },
      records: held.map(({ place, where, cameAt, record }) => ({ place, ...where, came_at: cameAt, record })),
    };
    writeNewFile(out, `${JSON.stringify(file, null, 2)}\n`);
    return { state: 'known', orgId, ...days, places };
  });
}

interface FoundPerson {
  readonly orgId: string;
  readonly subjects: readonly Subject[];
  readonly days: { readonly firstDay: string | null; readonly lastDay: string | null };
  readonly records: AsyncIterable<HeldRecord>;
}

/** @param use returns null if nothing is held about the person */
function withPerson(
  settings: Settings,
  request: PersonRequest,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
  use: (found: FoundPerson) => Promise<ShownPerson | null>,
): Promise<ShownPerson> {
  return readWarehouse(settings.warehouse, { clock, signal }, async (warehouse) => {
    await checkEmailSalt(warehouse, settings.emails);
    const orgId = await chooseOrganization(warehouse, request.organization);
    const person = await personOf(warehouse, request, settings.emails);
    const unknown = new UsageError(`nothing is held about this person in the organization ${orgId}`, {
      hint: 'check the user ID or the address',
    });
    // Null: no user has the ID.
    const subjects = await findSubjects(warehouse, orgId, person).catch((error: unknown) => {
      if (error instanceof UsageError && 'user' in person) return null;
      throw error;
    });
    const listed = await findListed(warehouse, orgId, subjectsOf(person));
    const erased = listed && ({ state: 'erased', orgId, erasedAt: listed.erasedAt } as const);
    if (subjects !== null) {
      const { archives, copies } = await expectAllArchives(warehouse, settings);
      const written = [...archives, ...copies].filter((archive) => archiveBytes(archive) > 0);
      const options = await sweepOptions(warehouse, settings, { clock, signal }, written);
      const records = heldRecords({ ...options, orgId, subjects });
      const shown = await use({ orgId, subjects, days: await daysOf(warehouse, orgId, subjects), records });
      if (shown !== null) return shown;
    }
    if (erased === null) throw unknown;
    return erased;
  });
}

async function daysOf(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  subjects: readonly Subject[],
): Promise<FoundPerson['days']> {
  const user = subjects.find(({ kind }) => kind === 'user')?.value ?? '';
  const [row] = await warehouse.select(
    sql`SELECT CAST(MIN(date) AS TEXT) AS first, CAST(MAX(date) AS TEXT) AS last FROM (
      SELECT date FROM user_daily WHERE org_id = ${orgId} AND user_id = ${user}
      UNION ALL SELECT date FROM tokens_daily_by_user WHERE org_id = ${orgId} AND user_id = ${user}) AS days`,
  );
  const dayOf = (value: unknown) => (typeof value === 'string' ? value : null);
  return { firstDay: dayOf(row?.['first']), lastDay: dayOf(row?.['last']) };
}

function writeNewFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw hasCode(error, 'EEXIST') ? fileExists(path) : explainWriteError(error, path);
  }
}

function fileExists(path: string): UsageError {
  return new UsageError(`the file ${path} exists already`, { hint: 'name a new file' });
}

type Place = Pick<JobContext, 'clock' | 'signal'>;

/** What applying a policy has changed, or would change. */
export interface AppliedPolicy extends PassedCounts {
  readonly isDryRun: boolean;
  /** How addresses are stored from now on. */
  readonly emails: Settings['emails']['mode'];
  /** Where the warehouse was copied or published to: these places are not changed. */
  readonly published: readonly string[];
}

/** How a policy is applied. */
interface PolicyRequest {
  readonly isDryRun: boolean;
  /** Wait for a run to end instead of failing with exit code 75. */
  readonly wait: boolean;
}

/**
 * Lets everything that is stored pass the gate again, without a request: the warehouse, its archives and what a drain has left in the
 * spool. What the policy does not keep goes for good. After a kill, a repetition resumes.
 * @throws {UsageError} while something else that was begun is not complete, see {@link passAll}.
 * @throws {BusyError} while a run holds the warehouse or another program reads a SQLite warehouse; a repetition resumes.
 */
export async function applyPolicy(
  settings: Settings,
  { isDryRun, wait }: PolicyRequest,
  { clock, signal, upgraded }: JobContext<{ readonly type: 'warning'; readonly message: string } & Advice>,
): Promise<AppliedPolicy> {
  const { warehouse: location, emails } = settings;
  // Who only counts does not upgrade.
  if (isDryRun) await readWarehouse(location, { clock, signal }, async () => undefined);
  return withWarehouse(location, { clock, signal, upgraded, create: false }, async (warehouse) => {
    const lock = await takeLock(warehouse, { clock, signal, wait, exclusive: true });
    try {
      await expectEmailSalt(warehouse, emails);
      const { archives, copies } = await expectAllArchives(warehouse, settings);
      const all = [...archives, ...copies];
      const counts = await passThrough(warehouse, settings, { clock, signal, isDryRun, archives: all });
      const places = await readPublished(location, warehouse);
      const lakes = await lakesThere(places);
      const published = places.filter((place) => !lakes.includes(place));
      return { isDryRun, emails: emails.mode, published, ...counts };
    } finally {
      await lock.release();
    }
  });
}

/**
 * Lets what an older gate has let through pass the present one, before a run stores anything.
 * @param lock the lock of the run; while everything passes, an exclusive one takes its place.
 * @returns the lock of the run, and the number of rows that have changed
 */
export async function passOlder(
  { warehouse, lock }: { readonly warehouse: Warehouse; readonly lock: RunLock },
  settings: Settings,
  patience: Parameters<typeof takeLock>[1],
): Promise<{ readonly lock: RunLock; readonly rows: number }> {
  await lock.release();
  const exclusive = await takeLock(warehouse, { ...patience, exclusive: true });
  let rows = 0;
  try {
    const passed = await passThrough(warehouse, settings, {
      ...{ ...patience, isDryRun: false },
      // Archives of other machines may not be here; a run compares its own only.
      archives: settings.archives,
    });
    for (const count of passed.rows.values()) rows += count;
  } finally {
    await exclusive.release();
  }
  return { lock: await takeLock(warehouse, patience), rows };
}

async function passThrough(
  warehouse: Warehouse,
  settings: Settings,
  { isDryRun, archives, ...place }: Place & Pick<PolicyRequest, 'isDryRun'> & Pick<Settings, 'archives'>,
): Promise<PassedCounts> {
  const gate = await openGate(warehouse, settings.emails);
  const options = await sweepOptions(warehouse, settings, place, archives);
  if (!isDryRun) await beginPassing(warehouse, settings.emails);
  const counts = await passAll({ ...options, gate, isDryRun });
  if (isDryRun) return counts;
  const asked = { firstDay: null, streams: null, maxAgeSeconds: null, withoutUsers: !gate.keepsPeople };
  for (const orgId of await readOrganizationIds(warehouse))
    await agreeContract(warehouse, { orgId, asked, now: place.clock.now() });
  await endPassing(warehouse, settings.emails);
  return counts;
}
