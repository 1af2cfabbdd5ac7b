import { html, raw } from 'hono/html';
import { markSvg } from '../charts/marks.ts';
import { type Chart, type Figure, MARK_NAMES, type MarkState } from '../page/page.ts';
import { sentenceOf } from '../words/sentences.ts';
import type { Frame } from './frame.ts';
import { sourcesHtml } from './sources.ts';
import { tableHtml } from './table.ts';
import { type Markup, phraseHtml, wordsHtml } from './text.ts';

/** A figure: title, unit and period, drawing, notes, and the line with its SQL, its table and what it rests on. */
export function figureHtml(figure: Figure, frame: Frame, level: 2 | 3): Markup {
  const { id, title, subtitle, results, empty } = figure;
  const anchor = `${frame.anchors ?? ''}${id}`;
  return html`<section class="figure" id="${anchor}" aria-labelledby="${anchor}-title">
${headingHtml(title, `${anchor}-title`, level)}<p class="subtitle">${subtitle}</p>
<div>${empty === undefined ? contentHtml(figure, frame) : html`<p class="empty">${wordsHtml(empty)}</p>`}
${notesHtml(figure, frame)}${sourcesHtml({ results, table: foldedTable(figure, frame) })}</div></section>`;
}

function contentHtml({ title, chart, legend, table, tableIs }: Figure, frame: Frame): Markup {
  return html`${chart === undefined ? '' : chartHtml(chart, title)}${legend === undefined ? '' : legendHtml(legend)}
${tableIs === 'shown' ? tableHtml(table, { frame, title }) : ''}`;
}

function foldedTable({ empty, tableIs, table, title }: Figure, frame: Frame): Markup | undefined {
  return empty === undefined && tableIs === 'folded' ? tableHtml(table, { frame, title }) : undefined;
}

/** Text that runs from right to left makes the browser start at the right end, where the newest day is, without a script. */
function chartHtml({ svg, axis }: Chart, title: string): Markup {
  return html`<div class="chart" tabindex="0" role="group" aria-label="${title}, drawing"><div class="drawing">${raw(axis ?? '')}${raw(svg)}</div></div>`;
}

function legendHtml(states: readonly MarkState[]): Markup {
  return html`<ul class="legend">${states.map((state) => html`<li>${raw(markSvg(state))} ${MARK_NAMES[state]}</li>`)}</ul>`;
}

/** What limits the figure, and what limits its results. A figure without content says what matters instead of it. */
function notesHtml({ notes = [], results, empty }: Figure, frame: Frame): Markup {
  const warnings = empty === undefined ? [...new Set(results.flatMap((result) => result.warnings))] : [];
  if (notes.length + warnings.length === 0) return html``;
  return html`<ul class="notes">${notes.map((note) => html`<li>${phraseHtml(note, frame)}</li>`)}${warnings.map((warning) => html`<li>${wordsHtml(sentenceOf(warning))}</li>`)}</ul>`;
}

function headingHtml(title: string, id: string, level: 2 | 3): Markup {
  return level === 2 ? html`<h2 id="${id}">${title}</h2>` : html`<h3 id="${id}">${title}</h3>`;
}
