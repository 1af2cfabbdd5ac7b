import { DefectError } from '../../core/errors.ts';
import type { Period } from '../../metrics/period.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { isRestricted, MANAGERS, type Viewer } from '../audience/audience.ts';
import { decideLimits } from '../audience/decide-limits.ts';
import { guardReader } from '../audience/guard-reader.ts';
import { withholdFrom } from '../audience/withhold.ts';
import type { Filters } from '../data/filters.ts';
import { type PageReader, pageReader } from '../data/reader.ts';
import { rememberResults } from '../data/remember-results.ts';
import type { Page } from '../page/page.ts';
import { PAGE_KINDS } from '../pages/kinds.ts';
import type { PageKind } from '../pages/page-kind.ts';
import { shortenLists } from './shorten-lists.ts';

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
