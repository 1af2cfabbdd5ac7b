import { createHash } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from '../../../schema/query.ts';
import { FIRST_DAY, monthOf, type UtcDay } from '../../core/day.ts';
import { messageOf, StorageError, UsageError } from '../../core/errors.ts';
import { hasCode, replaceFile } from '../../core/files.ts';
import { readUnits } from '../../ledger/index.ts';
import { type AskedPeriod, type Period, resolvePeriod } from '../../metrics/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { isRestricted, MANAGERS, mergedGroups, namelessOf, type Viewer } from '../audience.ts';
import type { Filters } from '../reader.ts';
import { pageReader } from '../snapshot-reader.ts';
import { listDocument, type Prepared, prepareReports, type ReportPage, reportDocument } from './document.ts';
import { expectNoSecret, readPeople, readSecrets, type Secrets } from './limits.ts';

/** Which reports to write. */
export interface ReportRequest {
  readonly filters: Filters;
  readonly audience: Viewer['audience'];
  readonly minGroup: number;
}

/** A report that was written. */
export interface WrittenReport {
  readonly file: string;
  /** Null for a report about the organization, or about people without a team: see `about`. */
  readonly team: string | null;
  readonly pages: number;
  /** Rows in the tables of the report. */
  readonly rows: number;
  readonly bytes: number;
}

/** Reports of several teams. */
export interface WrittenReports {
  readonly reports: readonly WrittenReport[];
  /** The file that links to them. */
  readonly list: string;
  /** Teams with too few people. */
  readonly too_small: readonly string[];
  /** Teams in which nobody was active in the period. */
  readonly inactive: readonly string[];
  /** Files in the folder that look like reports and were not written now: of teams that are gone or too small. */
  readonly older: readonly string[];
}

/**
 * Writes one report, about an organization or a team. Reads one snapshot of the warehouse.
 * @throws {UsageError} if the team, or the organization, is too small for the audience.
 */
export function writeReport(
  warehouse: Warehouse,
  { filters, ...asked }: ReportRequest,
  path: string,
): Promise<WrittenReport> {
  return warehouse.inSnapshot(async () => {
    const { team, ...period } = filters;
    const prepared = await prepareReports(warehouse, period, asked);
    expectLargeTeam(prepared.viewer, team);
    const secrets = await readSecrets(warehouse, prepared.viewer);
    return writeOne(prepared, filters, { path, secrets });
  });
}

/** Writes a report for each team into a folder, and a list of them. Reads one snapshot of the warehouse. */
export function writeTeamReports(
  warehouse: Warehouse,
  { filters: period, ...asked }: ReportRequest,
  folder: string,
  signal: AbortSignal,
): Promise<WrittenReports> {
  return warehouse.inSnapshot(async () => {
    const prepared = await prepareReports(warehouse, period, asked);
    const { active, inactive } = await readTeams(warehouse, period);
    const hidden = mergedGroups(prepared.viewer, 'team');
    const shown = active.filter((team) => !hidden.has(team));
    const names = fileNamesOf(shown);
    const secrets = await readSecrets(warehouse, prepared.viewer);
    await openFolder(folder);
    const reports: WrittenReport[] = [];
    for (const [team, name] of names) {
      signal.throwIfAborted();
      reports.push(await writeOne(prepared, { ...period, team }, { path: join(folder, name), secrets }));
    }
    const list = join(folder, 'index.html');
    const text = await listDocument([...names], { filters: period, viewer: prepared.viewer });
    expectNoSecret([{ name: 'the list of teams', text }], secrets);
    await replaceFile(list, text);
    const written = new Set(['index.html', ...names.values()]);
    return {
      reports,
      list,
      too_small: active.filter((team) => hidden.has(team)),
      inactive,
      older: await otherReports(folder, written),
    };
  });
}

async function writeOne(
  { viewer, build }: Prepared,
  filters: Filters,
  { path, secrets }: { readonly path: string; readonly secrets: readonly Secrets[] },
): Promise<WrittenReport> {
  const pages = await build(filters);
  const text = await reportDocument(pages, { filters, viewer });
  expectNoSecret([{ name: 'the report', text }], secrets);
  const bytes = await replaceFile(path, text);
  return { file: path, team: filters.team ?? null, pages: pages.length, rows: rowsIn(pages), bytes };
}

function rowsIn(pages: readonly ReportPage[]): number {
  const figures = pages.flatMap(({ page }) =>
    page.sections.flatMap((section) =>
      section.kind === 'pair' ? section.figures : section.kind === 'figure' ? [section] : [],
    ),
  );
  return figures.reduce((sum, { table }) => sum + table.rows.length, 0);
}

function expectLargeTeam(viewer: Viewer, team: string | null | undefined): void {
  if (team === undefined || !isRestricted(viewer)) return;
  if (!mergedGroups(viewer, 'team').has(team ?? namelessOf('team'))) return;
  const name = team === null ? 'the people without a team' : `the team "${team}"`;
  throw new UsageError(
    `${name}, or a group that would follow by subtraction, has fewer than ${viewer.minGroup} active people in a part of the period`,
    { hint: 'choose a longer period, or write the report for managers' },
  );
}

/** The teams with active people in the period, and those that only exist in it. */
async function readTeams(warehouse: Warehouse, { orgId, from, until }: Filters) {
  const reader = pageReader(warehouse, { orgId, from, until }, MANAGERS);
  const people = await readPeople(reader, 'team', [{ from, until }]);
  const listed = await warehouse.select(sql`SELECT DISTINCT team FROM people
WHERE org_id = ${orgId} AND team IS NOT NULL AND valid_from <= ${until} AND (valid_to IS NULL OR valid_to >= ${from})`);
  const names = listed.flatMap(({ team }) => (typeof team === 'string' ? team : []));
  const active = [...people.keys()].filter((team) => team !== namelessOf('team')).toSorted();
  return { active, inactive: names.filter((team) => !people.has(team)).toSorted() };
}

/** Longer names do not fit into every file system once they have an ending. */
const SLUG_CHARACTERS_MAX = 60;
const DIGEST_CHARACTERS = 8;
/** Names that Windows keeps for devices, and the one of the list of reports. */
const RESERVED_SLUG = /^(con|prn|aux|nul|com\d|lpt\d|index)$/;

/**
 * A file name for each team, safe on every file system and the same on each run: of lower-case letters, digits and hyphens.
 * Names that would be equal, empty or reserved get a part of their digest.
 */
export function fileNamesOf(teams: readonly string[]): ReadonlyMap<string, string> {
  const slugs = teams.map(slugOf);
  return new Map(
    teams.map((team) => {
      const slug = slugOf(team);
      const isOwn = isFree(slug) && slugs.filter((other) => other === slug).length === 1;
      return [team, `${isOwn ? slug : `${slug === '' ? 'team' : slug}-${digestOf(team)}`}.html`];
    }),
  );
}

/** A name that looks like one with a digest gets one too, so that it never is another team's. */
function isFree(slug: string): boolean {
  return slug !== '' && !RESERVED_SLUG.test(slug) && !/-[\da-f]{8}$/.test(slug);
}

function slugOf(team: string): string {
  return team
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS_MAX)
    .replaceAll(/^-+|-+$/g, '');
}

function digestOf(team: string): string {
  return createHash('sha256').update(team).digest('hex').slice(0, DIGEST_CHARACTERS);
}

/** Readable only by its owner until the owner decides otherwise. */
const FOLDER_MODE = 0o700;

/**
 * Creates the folder of reports if it is missing.
 * @throws {UsageError} if the path is something else.
 * @throws {StorageError} if it cannot be created.
 */
export async function openFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  } catch (error) {
    if (hasCode(error, 'EEXIST', 'ENOTDIR')) {
      throw new UsageError(`${folder} is not a folder`, {
        cause: error,
        hint: 'name a folder; it is created if it does not exist',
      });
    }
    throw new StorageError(`create ${folder}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give this user the right to write there',
    });
  }
}

/** The HTML files of a folder that are not among the given ones. */
export async function otherReports(folder: string, own: ReadonlySet<string>): Promise<string[]> {
  const names = await readdir(folder);
  return names.filter((name) => /^[^.].*\.html$/i.test(name) && !own.has(name)).toSorted();
}

/**
 * The period of a report. By default it ends on the newest loaded day of users, and begins with the month of its last day.
 * @param yesterday the newest day of which there can be data.
 * @throws {UsageError} if it is reversed, too long, outside the days of the service, or if nothing is loaded.
 */
export async function reportPeriod(
  warehouse: Pick<Warehouse, 'read'>,
  orgId: string,
  { from, until }: AskedPeriod,
  yesterday: UtcDay,
): Promise<Period> {
  if (until !== undefined && until > yesterday) {
    throw new UsageError(`the period ends on ${until}, a day that is not over yet`, {
      hint: `the last day can be ${yesterday}`,
    });
  }
  const units = await readUnits(warehouse, orgId, ['users']);
  const asked = resolvePeriod(units, ['users'], { from, until });
  return from === undefined ? { from: startOfMonth(asked.until), until: asked.until } : asked;
}

/** The service began within a month. */
function startOfMonth(day: UtcDay): UtcDay {
  const first = monthOf(day);
  return first < FIRST_DAY ? FIRST_DAY : first;
}
