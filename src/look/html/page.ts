import { html, raw } from 'hono/html';
import { sharedMarks } from '../charts/marks.ts';
import type { Page } from '../page/page.ts';
import { periodHeading } from '../words/spans.ts';
import { contentHtml } from './content.ts';
import type { Frame } from './frame.ts';
import { headerHtml } from './header.ts';
import { type Markup, titleText } from './text.ts';

/** A page as a document, with navigation and filters. */
export function pageHtml(page: Page, frame: Frame): Markup {
  const { assets } = frame;
  const links =
    assets === undefined
      ? ''
      : html`<link rel="stylesheet" href="${assets.style}"><script src="${assets.script}" defer></script>`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${titleOf(page, frame)}</title>
<link rel="icon" href="data:,">${links}</head>
<body>${raw(sharedMarks())}${headerHtml(frame)}
<main id="content" class="wide" tabindex="-1">${contentHtml(page, frame)}</main>
${footerHtml(frame)}</body></html>
`;
}

/** Page, period and organization; and what the page is about, if its heading says more. */
function titleOf({ name, heading }: Page, { filters, organization }: Frame): string {
  const period = periodHeading(filters);
  const about = heading.startsWith(name) ? [heading] : [name, heading];
  return titleText([...about, ...(heading.includes(period) ? [] : [period]), organization, 'Daywalk']);
}

/** Facts about the page: version, warehouse, organization; and the way out, where people log in. */
export function footerHtml({ footer, logout }: Frame): Markup {
  const out =
    logout === undefined
      ? ''
      : html`<form class="logout" method="post" action="${logout}"><button>Log out</button></form>`;
  return html`<footer class="wide"><p>${footer.map((fact, index) => html`${index === 0 ? '' : ' · '}<bdi>${fact}</bdi>`)}</p>${out}</footer>`;
}
