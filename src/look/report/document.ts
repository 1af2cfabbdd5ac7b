import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { Viewer } from '../audience/audience.ts';
import { sharedMarks } from '../charts/marks.ts';
import type { Filters } from '../data/filters.ts';
import { contentHtml } from '../html/content.ts';
import type { Frame } from '../html/frame.ts';
import { footerHtml } from '../html/page.ts';
import { type Markup, titleText } from '../html/text.ts';
import { periodHeading } from '../words/spans.ts';
import type { ReportPage } from './build-pages.ts';
import { reportStyle } from './report-style.ts';

/** What a report is about. */
export interface ReportSubject {
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
export async function documentOf(title: string, body: Markup): Promise<string> {
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
export function aboutOf({ orgId, team }: Filters): string {
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
