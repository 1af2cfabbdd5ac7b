import { createHash } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from '../../../schema/query.ts';
import { expectOver, monthOf, shiftDay, type UtcDay, yesterdayOf } from '../../core/day.ts';
import { messageOf, nearestName, StorageError, UsageError } from '../../core/errors.ts';
import { hasCode, replaceFile } from '../../core/files.ts';
import { contractOf, spanStart } from '../../expected/index.ts';
import { readUnits } from '../../ledger/index.ts';
import { type AskedPeriod, type Period, readProvenance } from '../../metrics/index.ts';
import { type QueryRow, runReads, type Warehouse } from '../../port/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import {
  FIRST_WEEK,
  nearestWeeks,
  publishedWeeks,
  type WaitingWeek,
  waitingWeeks,
} from '../../weeks/index.ts';
import { type Audience, NO_TEAMS } from '../audience.ts';
import type { Filters } from '../reader.ts';
import { pageReader } from '../snapshot-reader.ts';
import { readTodayOfReport } from '../trust.ts';
import { listDocument, managersPages, reportDocument } from './document.ts';
import { publishedTeams } from './published-numbers.ts';
import { publishedPages, type ReportPage } from './published-pages.ts';

/** Which reports to write. */
export interface ReportRequest {
  readonly filters: Filters;
  readonly audience: Audience;
  /** The fewest people about whom a number is shown, for readers other than managers. */
  readonly minGroup: number;
  readonly now: Date;
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
  /** Teams that are not shown alone in any week of the period, because they have too few people. */
  readonly too_small: readonly string[];
  /** Teams in which nobody was active in the period. */
  readonly inactive: readonly string[];
  /** Files in the folder that look like reports and were not written now: of teams that are gone or too small. */
  readonly older: readonly string[];
}

/**
 * Writes one report, about an organization or a team. Reads one snapshot of the warehouse.
 * @throws {UsageError} if the team is not shown alone to the audience.
 */
export function writeReport(
  warehouse: Warehouse,
  request: ReportRequest,
  path: string,
): Promise<WrittenReport> {
  return warehouse.inSnapshot(async () => {
    const { team, ...period } = request.filters;
    if (team !== undefined && request.audience !== 'managers') {
      const shown = await publishedTeams(warehouse, { ...request, filters: period });
      expectShown(shown, team ?? UNASSIGNED, request);
    }
    return writeOne(warehouse, request, path);
  });
}

/** Writes a report for each team into a folder, and a list of them. Reads one snapshot of the warehouse. */
export function writeTeamReports(
  warehouse: Warehouse,
  request: ReportRequest,
  folder: string,
  signal: AbortSignal,
): Promise<WrittenReports> {
  return warehouse.inSnapshot(async () => {
    const { filters: period, audience } = request;
    const { active, listed } = await readTeams(warehouse, period);
    const all = audience === 'managers' ? active : await publishedTeams(warehouse, request);
    const shown = all.filter((team) => team !== UNASSIGNED).toSorted();
    const names = fileNamesOf(shown);
    await openFolder(folder);
    const reports: WrittenReport[] = [];
    for (const [team, name] of names) {
      signal.throwIfAborted();
      const filters = { ...period, team };
      reports.push(await writeOne(warehouse, { ...request, filters }, join(folder, name)));
    }
    const list = join(folder, 'index.html');
    await replaceFile(list, await listDocument([...names], request));
    const written = new Set(['index.html', ...names.values()]);
    return {
      reports,
      list,
      too_small: active.filter((team) => !shown.includes(team)),
      inactive: listed.filter((team) => !active.includes(team) && !shown.includes(team)).toSorted(),
      older: await otherReports(folder, written),
    };
  });
}

async function writeOne(warehouse: Warehouse, request: ReportRequest, path: string): Promise<WrittenReport> {
  const { filters, audience } = request;
  const { pages, numbersTo } =
    audience === 'managers'
      ? await managersReport(warehouse, filters)
      : await publishedReport(warehouse, request);
  const bytes = await replaceFile(path, await reportDocument(pages, { ...request, numbersTo }));
  return { file: path, team: filters.team ?? null, pages: pages.length, rows: rowsIn(pages), bytes };
}

async function managersReport(warehouse: Warehouse, filters: Filters) {
  const units = await readUnits(warehouse, filters.orgId);
  const today = await readTodayOfReport(warehouse, filters.orgId, units);
  const { contract, wholeDay } = today.expectation;
  const pages = await managersPages(warehouse, { ...filters, firstDay: contract.firstDay, today });
  return { pages, numbersTo: wholeDay !== null && wholeDay < filters.until ? wholeDay : filters.until };
}

async function publishedReport(warehouse: Warehouse, request: ReportRequest) {
  const { orgId, from, until } = request.filters;
  const weeks = await runReads(warehouse, publishedWeeks(orgId));
  const last = weeks.findLast((week) => week >= from && week <= until);
  return {
    pages: await publishedPages(warehouse, request),
    numbersTo: last === undefined ? null : shiftDay(last, 6),
  };
}

function rowsIn(pages: readonly ReportPage[]): number {
  const figures = pages.flatMap(({ page }) =>
    page.sections.flatMap((section) =>
      section.kind === 'pair' ? section.figures : section.kind === 'figure' ? [section] : [],
    ),
  );
  return figures.reduce((sum, { table }) => sum + table.rows.length, 0);
}

const LONGER = 'choose a longer period, or write the report for managers';

function expectShown(shown: readonly string[], team: string, { filters }: ReportRequest): void {
  if (shown.includes(team)) return;
  const weeks = `any published week from ${filters.from} to ${filters.until}`;
  if (shown.length === 0) throw new UsageError(`no team is shown alone in ${weeks}`, { hint: NO_TEAMS });
  const nearest = nearestName(team, shown);
  const hint = nearest === undefined ? LONGER : `did you mean ${nearest}?`;
  const why = 'it, or a group that would follow by subtraction, has too few people';
  throw new UsageError(`the team "${team}" is not shown alone in ${weeks}: ${why}`, { hint });
}

/** The teams with active people in the period, and those of the people who are listed in it. */
async function readTeams(warehouse: Warehouse, { orgId, from, until }: Filters) {
  const reader = pageReader(warehouse, { orgId, from, until });
  const { rows } = await reader.ask({ metric: 'active_users', title: 'people by team', by: ['team'] });
  const people = await warehouse.select(sql`SELECT DISTINCT team FROM people
WHERE org_id = ${orgId} AND team IS NOT NULL AND valid_from <= ${until} AND (valid_to IS NULL OR valid_to >= ${from})`);
  const namesIn = (found: readonly QueryRow[]) =>
    found.flatMap(({ team }) => (typeof team === 'string' ? team : [])).toSorted();
  return { active: namesIn(rows), listed: namesIn(people) };
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
 * The period of a report for managers. By default it ends on the newest loaded day of users, and begins with the month of its last
 * day, or with the first expected day.
 * @param yesterday the newest day of which there can be data.
 * @throws {UsageError} if it is reversed, too long, outside the days of the service, or if nothing is loaded.
 */
async function managersPeriod(
  warehouse: Pick<Warehouse, 'read'>,
  orgId: string,
  { from, until }: AskedPeriod,
  yesterday: UtcDay,
): Promise<Period> {
  expectOver(until, yesterday);
  const asked = await readProvenance(warehouse, { orgId, streams: ['users'], from, until });
  const month = monthOf(asked.until);
  // Without a first day, what is read begins with the first expected one.
  return { from: from === undefined && month > asked.from ? month : asked.from, until: asked.until };
}

/** So many weeks are shown by default: a quarter. */
const WEEKS_SHOWN = 13;

/**
 * The period of a report for a team or the public: whole weeks, of which one at least is published. By default the last thirteen
 * expected ones that are published.
 * @throws {UsageError} if a week is cut, or if none is published: it says what the first one waits for, and until when.
 */
async function publishedPeriod(
  warehouse: Warehouse,
  orgId: string,
  { from, until }: AskedPeriod,
  now: Date,
): Promise<Period> {
  const published = await runReads(warehouse, publishedWeeks(orgId));
  const last = until ?? shiftDay(published.at(-1) ?? FIRST_WEEK, 6);
  const before = published.filter((week) => week <= last);
  const contract = await runReads(warehouse, contractOf(orgId));
  const expected = before.filter((week) => week >= spanStart(FIRST_WEEK, last, contract));
  const shown = expected.length > 0 ? expected : before;
  const first = from ?? shown.slice(-WEEKS_SHOWN)[0] ?? FIRST_WEEK;
  const nearest = nearestWeeks({ from: first, until: last });
  if (nearest.from !== first || nearest.until !== last) {
    throw new UsageError(
      `reports for a team or the public are about whole weeks, from Monday to Sunday, since ${FIRST_WEEK}; ${first} to ${last} is not`,
      { hint: `the nearest weeks are --from ${nearest.from} --until ${nearest.until}` },
    );
  }
  if (before.some((week) => week >= first)) return { from: first, until: last };
  const waiting = await runReads(warehouse, waitingWeeks(orgId, last, { now }));
  throw notPublished(
    orgId,
    waiting.find(({ week }) => week >= first),
  );
}

function notPublished(orgId: string, waiting: WaitingWeek | undefined): UsageError {
  const nothing = `no week of ${orgId} is published in this period`;
  if (waiting === undefined) return new UsageError(nothing, { hint: 'choose an earlier period' });
  const { week, days, earliest, isTooSmall } = waiting;
  if (isTooSmall)
    return new UsageError(`${nothing}: too few people were active in the week of ${week}`, { hint: LONGER });
  const [day] = days;
  const open =
    day === undefined
      ? 'the next run'
      : `${days.length} ${days.length === 1 ? 'day that is' : 'days that are'} not settled in every expected stream, the first is ${day}`;
  return new UsageError(`${nothing}: the week of ${week} waits for ${open}`, {
    hint: `the earliest night on which a run can publish it is ${earliest}; \`daywalk status\` shows the days`,
  });
}

/** The period of a report, see {@link managersPeriod} and {@link publishedPeriod}. */
export function reportPeriod(
  warehouse: Warehouse,
  orgId: string,
  { asked, audience, now }: { readonly asked: AskedPeriod; readonly audience: Audience; readonly now: Date },
): Promise<Period> {
  return audience === 'managers'
    ? managersPeriod(warehouse, orgId, asked, yesterdayOf(now))
    : publishedPeriod(warehouse, orgId, asked, now);
}
