import { html, raw } from 'hono/html';
import type { Result } from '../data/result.ts';
import type { ShownNumber } from '../page/numbers.ts';
import type { Headline, Headlines } from '../page/page.ts';
import { sentenceOf } from '../words/sentences.ts';
import { numberHtml } from './number.ts';
import { sourcesHtml } from './sources.ts';
import { type Markup, wordsHtml } from './text.ts';

/**
 * Up to four numbers in a row, each with its change and its weeks; two by two where the page is narrow. Under them are their
 * queries, and those of the sentence above them.
 */
export function headlinesHtml({ headlines }: Headlines, inText: readonly Result[]): Markup {
  const results = [...headlines.flatMap(({ results: own }) => own), ...inText];
  return html`<section class="headlines" aria-label="Main numbers"><dl>${headlines.map(headlineHtml)}</dl>
${sourcesHtml({ results })}</section>`;
}

function headlineHtml({ title, number, unit, change, against, line }: Headline): Markup {
  return html`<div><dt>${title}</dt>
<dd class="main">${numberHtml(number)}${unit === undefined || unit === '' ? '' : html` <span class="unit">${unit}</span>`}</dd>
<dd class="change">${changeHtml(number, change, against)}</dd>
${line === undefined ? '' : html`<dd class="weeks">${raw(line.svg)}</dd>`}</div>`;
}

/** A number or a change that cannot be shown gives its reason in the open, because it often is a hole. */
function changeHtml(number: ShownNumber, change: ShownNumber, against: string): Markup {
  if (number.value === null) return html`${wordsHtml(sentenceOf(number.why ?? 'no value is stored'))}`;
  if (change.value === null) return html`– ${change.why ?? 'there is nothing to compare with'}`;
  return html`<b>${numberHtml(change)}</b> against ${against}`;
}
