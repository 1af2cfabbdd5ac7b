import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { UtcDay } from '../../core/day.ts';
import type { Warehouse } from '../../port/index.ts';
import type { Audience } from '../audience.ts';
import { sharedMarks } from '../charts/calendar.ts';
import { contentHtml, footerHtml } from '../html/page.ts';
import { type Frame, type Markup, titleText } from '../html/text.ts';
import type { Figure, Page, Section, Table } from '../page.ts';
import { PAGE_KINDS } from '../pages/all-pages.ts';
import { type Filters, rememberResults, type Today } from '../reader.ts';
import { pageReader } from '../snapshot-reader.ts';
import { styleSheet } from '../style.ts';
import { bannerOf } from '../trust.ts';
import { dayName, periodHeading } from '../words.ts';
import type { ReportPage } from './published-pages.ts';

/** The pages of a report for managers, about an organization or one of its teams. Call inside a snapshot. */
export async function managersPages(
  warehouse: Warehouse,
  filters: Filters & { readonly today: Today },
): Promise<ReportPage[]> {
  const { today } = filters;
  const all = pageReader(warehouse, filters);
  const pages: ReportPage[] = [];
  for (const kind of PAGE_KINDS) {
    // Pages about one thing are not in reports.
    if (kind.name === undefined) continue;
    const { reader, asked } = rememberResults(all);
    const page = { ...(await kind.build(reader, {})), banner: bannerOf(filters, today), asked };
    pages.push({ path: kind.path, page: shortenLists(page) });
  }
  return pages;
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
  readonly audience: Audience;
  /** The newest day in the numbers; null if there is none. */
  readonly numbersTo?: UtcDay | null;
}

/**
 * A report as one document that needs nothing else: no script, no request, no link to another place. The same pages give
 * the same bytes.
 */
export async function reportDocument(pages: readonly ReportPage[], subject: ReportSubject): Promise<string> {
  const { filters, numbersTo } = subject;
  const title = titleText(['Report', aboutOf(filters), periodHeading(filters), filters.orgId, 'Daywalk']);
  const body = html`<header class="report wide"><p class="about"><bdi>${aboutOf(filters)}</bdi></p>
<h1>${periodHeading(filters)}</h1>${numbersTo === null || numbersTo === undefined ? '' : html`<p class="sentence">Numbers to ${dayName(numbersTo)} ${numbersTo.slice(0, 4)}.</p>`}
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

function footerOf({ audience, filters }: ReportSubject): string[] {
  const stored = 'Numbers are stored as the service published them; none is corrected.';
  const published =
    'No person is named. Each week is shown as it was published, with groups of too few people together.';
  return ['Daywalk', filters.orgId, audience === 'managers' ? stored : published];
}

/** The list of the reports of teams, with links that hold wherever the folder is. */
export function listDocument(
  reports: readonly (readonly [team: string, file: string])[],
  { filters, audience }: ReportSubject,
): Promise<string> {
  const heading = periodHeading(filters);
  const left = audience === 'managers' ? [] : ['Teams of too few people are not reported.'];
  const body = html`<main id="content" class="wide"><h1>${heading}</h1>
<p class="sentence">${reports.length === 0 ? 'No team is reported.' : `Reports of ${reports.length === 1 ? 'one team' : `${reports.length} teams`}.`}</p>
<ul class="reports">${reports.map(([team, file]) => html`<li><a href="${file}"><bdi>${team.trim() === '' ? file : team}</bdi></a></li>`)}</ul></main>
${footerHtml({ navigation: [], organization: filters.orgId, filters, href: () => null, footer: ['Daywalk', filters.orgId, ...left] })}`;
  return documentOf(titleText(['Reports', heading, filters.orgId, 'Daywalk']), body);
}
