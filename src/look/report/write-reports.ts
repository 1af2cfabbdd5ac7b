import { join } from 'node:path';
import { sql } from '../../../schema/query.ts';
import { UsageError } from '../../core/errors.ts';
import { replaceFile } from '../../core/replace-file.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { isRestricted, MANAGERS, mergedGroups, namelessOf, type Viewer } from '../audience/audience.ts';
import { readPeople } from '../audience/read-people.ts';
import { readSecrets, type Secrets } from '../audience/secrets.ts';
import type { Filters } from '../data/filters.ts';
import { pageReader } from '../data/reader.ts';
import { type Prepared, prepareReports, type ReportPage } from './build-pages.ts';
import { reportDocument } from './document.ts';
import { expectNoSecret } from './expect-no-secret.ts';
import { fileNamesOf } from './file-names.ts';
import { openFolder, otherReports } from './folder.ts';
import { listDocument } from './list-document.ts';

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
