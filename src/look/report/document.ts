import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { DefectError } from '../../core/errors.ts';
import type { Period } from '../../metrics/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { isRestricted, MANAGERS, type Viewer } from '../audience.ts';
import { sharedMarks } from '../charts/calendar.ts';
import { contentHtml, footerHtml } from '../html/page.ts';
import { type Frame, type Markup, titleText } from '../html/text.ts';
import type { Figure, Page, Section, Table } from '../page.ts';
import { PAGE_KINDS } from '../pages/all-pages.ts';
import type { PageKind } from '../pages/page-kind.ts';
import { type Filters, type PageReader, rememberResults } from '../reader.ts';
import { pageReader } from '../snapshot-reader.ts';
import { styleSheet } from '../style.ts';
import { periodHeading } from '../words.ts';
import { guardReader, withholdFrom } from './guard-reader.ts';
import { decideLimits } from './limits.ts';

/** A page of a report. */
export interface ReportPage {
  /** Its path in the dashboard, by which pages link to each other. */
  readonly path: string;
  readonly page: Page;
}

/** Builds the pages of a report about an organization or one of its teams. Call inside the snapshot that it was made in. */
type BuildPages = (filters: Filters) => Promise<ReportPage[]>;

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
function shortenLists(page: Page): Page {
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

/** The style of a report: that of all pages, and what a document with several pages needs besides. */
const reportStyle: string = `${styleSheet}
header.report{padding-top:40px}
header.report .about{margin:0;color:var(--ink-2)}
header.report h1{margin:4px 0 12px}
.contents ol{display:flex;flex-wrap:wrap;gap:4px 20px;margin:0;padding:0 0 24px;list-style:none;border-bottom:1px solid var(--hairline)}
.contents li{margin:0}
article.wide{padding-top:44px;scroll-margin-top:8px}
article+article{border-top:1px solid var(--hairline);margin-top:44px}
.reports{padding-left:20px}
@media print{article+article{break-before:page;border-top:0;margin-top:0;padding-top:0}}
`;

/** What a report is about. */
interface ReportSubject {
  readonly filters: Filters;
  readonly viewer: Viewer;
}

/**
 * A report as one document that needs nothing else: no script, no request, no link to another place. The same pages give
 * the same bytes.
 */
export async function reportDocument(pages: readonly ReportPage[], subject: ReportSubject): Promise<string> {
  const { filters } = subject;
  const title = titleText(['Report', aboutOf(filters), periodHeading(filters), filters.orgId, 'Daywalk']);
  const body = html`<header class="report wide"><p class="about"><bdi>${aboutOf(filters)}</bdi></p>
<h1>${periodHeading(filters)}</h1>
<nav class="contents" aria-label="Contents"><ol>${pages.map(({ path, page }) => html`<li><a href="#${anchorOf(path)}">${page.name}</a></li>`)}</ol></nav></header>
<main id="content">${pages.map((page) => pageMarkup(page, pages, filters))}</main>
${footerHtml({ ...frameOf('', pages, filters), footer: footerOf(subject) })}`;
  return documentOf(title, body);
}

/** A document with the style of reports, which allows nothing but itself. */
async function documentOf(title: string, body: Markup): Promise<string> {
  const text = await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer"><title>${title}</title><style>${raw(reportStyle)}</style></head>
<body>${raw(sharedMarks())}${body}</body></html>
`;
  return String(text);
}

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(reportStyle).digest('base64')}'`,
  "script-src 'none'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The organization, or the team that the report is about. */
function aboutOf({ orgId, team }: Filters): string {
  if (team === undefined) return orgId;
  return `${orgId}, ${team === null ? 'people without a team' : `team ${team}`}`;
}

/** The document is headed by the period, so a page that would repeat it is headed by its name. */
function pageMarkup({ path, page: own }: ReportPage, pages: readonly ReportPage[], filters: Filters): Markup {
  const page = own.heading === periodHeading(filters) ? { ...own, heading: own.name } : own;
  return html`<article class="wide" id="${anchorOf(path)}">${contentHtml(page, frameOf(path, pages, filters), 2)}</article>`;
}

function frameOf(path: string, pages: readonly ReportPage[], filters: Filters): Frame {
  const paths = new Set(pages.map((page) => page.path));
  return {
    navigation: [],
    organization: filters.orgId,
    filters,
    href: (to) => (paths.has(to) ? `#${anchorOf(to)}` : null),
    footer: [],
    anchors: `${anchorOf(path)}-`,
  };
}

/** `overview` for the first page, whose path is `/`. */
function anchorOf(path: string): string {
  return path === '/' ? 'overview' : path.slice(1).replaceAll('/', '-');
}

function footerOf({ viewer: { audience, minGroup }, filters }: ReportSubject): string[] {
  const facts = [
    'Daywalk',
    filters.orgId,
    'Numbers are stored as the service published them; none is corrected.',
  ];
  if (audience === 'managers') return facts;
  const merged = `No person is named, and groups of fewer than ${minGroup} people are merged.`;
  return [...facts, merged];
}

/** The list of the reports of teams, with links that hold wherever the folder is. */
export function listDocument(
  reports: readonly (readonly [team: string, file: string])[],
  { filters, viewer }: ReportSubject,
): Promise<string> {
  const heading = periodHeading(filters);
  const body = html`<main id="content" class="wide"><h1>${heading}</h1>
<p class="sentence">${reports.length === 0 ? 'No team is reported.' : `Reports of ${reports.length === 1 ? 'one team' : `${reports.length} teams`}.`}</p>
<ul class="reports">${reports.map(([team, file]) => html`<li><a href="${file}"><bdi>${team.trim() === '' ? file : team}</bdi></a></li>`)}</ul></main>
${footerHtml({ navigation: [], organization: filters.orgId, filters, href: () => null, footer: listFooterOf(filters.orgId, viewer) })}`;
  return documentOf(titleText(['Reports', heading, filters.orgId, 'Daywalk']), body);
}

function listFooterOf(orgId: string, { audience, minGroup }: ReportSubject['viewer']): string[] {
  if (audience === 'managers') return ['Daywalk', orgId];
  return ['Daywalk', orgId, `Teams of fewer than ${minGroup} active people are not reported.`];
}
