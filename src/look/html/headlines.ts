import { html, raw } from 'hono/html';
import type { ShownNumber } from '../page/numbers.ts';
import type { Headline, Headlines } from '../page/page.ts';
import { numberHtml } from './number.ts';
import { sourcesHtml } from './sources.ts';
import type { Markup } from './text.ts';

/** Up to four numbers in a row, each with its change and its weeks; two by two where the page is narrow. */
export function headlinesHtml({ headlines }: Headlines): Markup {
  const results = headlines.flatMap(({ results: own }) => own);
  return html`<section class="headlines" aria-label="Main numbers"><dl>${headlines.map(headlineHtml)}</dl>
${sourcesHtml({ results })}</section>`;
}

function headlineHtml({ title, number, unit, change, against, line }: Headline): Markup {
  return html`<div><dt>${title}</dt>
<dd class="main">${numberHtml(number)}${unit === undefined || unit === '' ? '' : html` <span class="unit">${unit}</span>`}</dd>
<dd class="change">${changeHtml(change, against)}</dd>
${line === undefined ? '' : html`<dd class="weeks">${raw(line.svg)}</dd>`}</div>`;
}

/** A change that cannot be shown gives its reason in the open, because it often is a hole. */
function changeHtml(change: ShownNumber, against: string): Markup {
  if (change.value === null) return html`– ${change.why ?? 'there is nothing to compare with'}`;
  return html`<b>${numberHtml(change)}</b> against ${against}`;
}
