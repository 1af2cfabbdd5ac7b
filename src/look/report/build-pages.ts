import { DefectError } from '../../core/errors.ts';
import type { Period } from '../../metrics/period.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { isRestricted, MANAGERS, type Viewer } from '../audience.ts';
import type { Figure, Page, Section, Table } from '../page.ts';
import { PAGE_KINDS } from '../pages/all-pages.ts';
import type { PageKind } from '../pages/page-kind.ts';
import { type Filters, type PageReader, pageReader, rememberResults } from '../reader.ts';
import { guardReader, withholdFrom } from './guard-reader.ts';
import { decideLimits } from './limits.ts';

/** A page of a report. */
export interface ReportPage {
  /** Its path in the dashboard, by which pages link to each other. */
  readonly path: string;
  readonly page: Page;
}

/** Builds the pages of a report about an organization or one of its teams. Call inside the snapshot that it was made in. */
export type BuildPages = (filters: Filters) => Promise<ReportPage[]>;

/** A report's audience, and how to build pages for it. */
export interface Prepared {
  readonly viewer: Viewer;
  readonly build: BuildPages;
}

/**
 * Prepares reports about a period for an audience. For readers other than managers it builds the pages once to learn what
 * they ask, and decides from that which groups all reports may show. Call inside a snapshot.
 * @param period the organization and the period; no team.
 * @throws {UsageError} if too few people were active in the period.
 */
export async function prepareReports(
  warehouse: Warehouse,
  period: Omit<Filters, 'team'>,
  asked: Pick<Viewer, 'audience' | 'minGroup'>,
): Promise<Prepared> {
  if (!isRestricted(asked)) {
    return {
      viewer: MANAGERS,
      build: (filters) => buildAll(pageReader(warehouse, filters, MANAGERS)),
    };
  }
  const everybody = pageReader(warehouse, period, asked);
  const { limits, spans } = await decideLimits(
    pageReader(warehouse, period, MANAGERS),
    asked.minGroup,
    async (learning) => {
      const guarded = guardReader(everybody, { ...asked, limits: learning });
      await buildAll(guarded);
      return guarded;
    },
  );
  const viewer: Viewer = { ...asked, limits };
  const build: BuildPages = async (filters) => {
    const guarded = guardReader(pageReader(warehouse, filters, viewer), viewer);
    const pages = await buildAll(guarded);
    expectKnown(guarded.spans, spans);
    return pages.map(({ path, page }) => ({ path, page: withholdFrom(page, guarded.withheld) }));
  };
  return { viewer, build };
}

async function buildAll(all: PageReader): Promise<ReportPage[]> {
  const pages: ReportPage[] = [];
  for (const kind of PAGE_KINDS) {
    if (!isInReport(kind, all.viewer)) continue;
    const { reader, asked } = rememberResults(all);
    const page = { ...(await kind.build(reader, {})), asked };
    pages.push({ path: kind.path, page: shortenLists(page) });
  }
  return pages;
}

/** Pages about one thing are not in reports. The list of people is for managers. */
function isInReport({ name, path }: PageKind, viewer: Viewer): boolean {
  return name !== undefined && (path !== '/people' || !isRestricted(viewer));
}

/** Groups were judged by the spans of the whole organization. Pages about a team that ask for others would escape that. */
function expectKnown(asked: readonly Period[], judged: readonly Period[]): void {
  const known = new Set(judged.map(({ from, until }) => `${from} ${until}`));
  const unknown = asked.find(({ from, until }) => !known.has(`${from} ${until}`));
  if (unknown === undefined) return;
  const { from, until } = unknown;
  throw new DefectError(
    'write the report',
    new Error(`a page shows ${from} to ${until}, which was not judged`),
  );
}

/** A report has no second page of a list. */
const LISTED_ROWS_MAX = 50;

/** Cuts the lists of a page that the dashboard shows in parts, and says so. Tables of charts stay whole. */
export function shortenLists(page: Page): Page {
  if (page.pager === undefined && page.search === undefined) return page;
  const { pager: _pager, search: _search, ...rest } = page;
  return {
    ...rest,
    sections: page.sections.map((section) => shortenSection(section, page.pager?.pages ?? 1)),
  };
}

function shortenSection(section: Section, pages: number): Section {
  if (section.kind !== 'figure' || section.chart !== undefined || section.table.sorting === undefined)
    return section;
  const { rows } = section.table;
  if (rows.length <= LISTED_ROWS_MAX && pages === 1) return section;
  const note = [`The first ${Math.min(LISTED_ROWS_MAX, rows.length)} of a longer list.`];
  const table: Table = { ...section.table, rows: rows.slice(0, LISTED_ROWS_MAX) };
  return { ...section, table, notes: [...(section.notes ?? []), note] } satisfies Figure;
}
