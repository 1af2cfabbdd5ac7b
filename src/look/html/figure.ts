import { html, raw } from 'hono/html';
import { shiftDay, type UtcDay } from '../../core/day.ts';
import { markSvg } from '../charts/calendar.ts';
import type { Result } from '../numbers.ts';
import {
  type Bullet,
  type Cell,
  type Chart,
  type Column,
  type Figure,
  MARK_NAMES,
  type MarkState,
  type Table,
} from '../page.ts';
import { asSentence, dayName, daysWords, instantWords } from '../words.ts';
import type { Frame } from './text.ts';
import { cut, linkHtml, type Markup, numberHtml, phraseHtml, textHtml, wordsHtml } from './text.ts';

/** A figure: title, unit and period, drawing, notes, and the line with its SQL, its table and what it rests on. */
export function figureHtml(figure: Figure, frame: Frame, level: 2 | 3): Markup {
  const { id, subtitle, results, empty, files = [] } = figure;
  const here = empty === undefined ? frame.here : undefined;
  const links =
    here === undefined
      ? []
      : [
          { text: 'CSV', href: here({ csv: id }) },
          ...files.map((file) => ({ text: file.text, href: here({ csv: file.id }) })),
        ];
  const anchor = `${frame.anchors ?? ''}${id}`;
  return html`<section class="figure" id="${anchor}" aria-labelledby="${anchor}-title">
${headingHtml(figure, `${anchor}-title`, level)}<p class="subtitle">${subtitle}</p>
<div>${empty === undefined ? figureContentHtml(figure, frame) : html`<p class="empty">${wordsHtml(empty)}</p>`}
${notesHtml(figure, frame)}${sourcesHtml({ results, table: foldedTable(figure, frame), files: links })}</div></section>`;
}

function figureContentHtml({ title, chart, legend, table, isTableFolded }: Figure, frame: Frame): Markup {
  return html`${chart === undefined ? '' : chartHtml(chart, title)}${legend === undefined ? '' : legendHtml(legend)}
${isTableFolded ? '' : tableHtml(table, { frame, title })}`;
}

function foldedTable({ empty, isTableFolded, table, title }: Figure, frame: Frame): Markup | undefined {
  return empty === undefined && isTableFolded ? tableHtml(table, { frame, title }) : undefined;
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
  return html`<ul class="notes">${notes.map((note) => html`<li>${phraseHtml(note, frame)}</li>`)}${warnings.map((warning) => html`<li>${wordsHtml(asSentence(warning))}</li>`)}</ul>`;
}

function headingHtml({ title, hidesTitle = false }: Figure, id: string, level: 2 | 3): Markup {
  const names = hidesTitle ? raw(' class="hidden"') : '';
  return level === 2
    ? html`<h2${names} id="${id}">${title}</h2>`
    : html`<h3${names} id="${id}">${title}</h3>`;
}

/** As much of a run's ID as tells it from others. */
const RUN_CHARACTERS = 6;

/** The line under numbers: their SQL, perhaps their folded table, and what they rest on. */
export function sourcesHtml({
  results,
  table,
  files = [],
}: {
  results: readonly Result[];
  table?: Markup | undefined;
  /** Where the rows can be had as CSV. */
  files?: readonly { readonly text: string; readonly href: string | null }[];
}): Markup {
  const own = [...new Map(results.map((result) => [result.id, result])).values()];
  if (own.length === 0 && table === undefined) return html``;
  return html`<div class="sources">${own.length === 0 ? '' : html`<details class="sql"><summary>SQL</summary>${own.map(queryHtml)}</details>`}
${table === undefined ? '' : html`<details class="folded"><summary>Table</summary>${table}</details>`}
${files.map(({ text, href }) => (href === null ? '' : html`<a class="csv" href="${href}" download>${text}</a>`))}${basisHtml(own)}</div>`;
}

/** A query with its exact text, and the days that its numbers rest on, for formulas that count them. */
function queryHtml({ id, title, sql, basis: { from, until, days } }: Result): Markup {
  return html`<div class="query"><p>${id} · ${title}</p>
<pre tabindex="0"><code data-query="${id}" data-from="${from}" data-until="${until}" data-expected="${days.expected}" data-settled="${days.settled}" data-unsettled="${days.unsettled.join(' ')}" data-missing="${days.missing.join(' ')}">${sql}</code></pre></div>`;
}

/** `settled to 17 November · run 2f64c1 · 20 Nov 03:00 UTC`; days that are open or missing before that are named. */
function basisHtml(results: readonly Result[]): Markup {
  const parts = [...daysParts(results), ...runParts(results)];
  if (parts.length === 0) return html``;
  return html`<p class="basis">${parts.map((part, index) => html`${index === 0 ? '' : ' · '}${part}`)}</p>`;
}

function daysParts(results: readonly Result[]): (string | Markup)[] {
  const bases = results.map(({ basis }) => basis).filter(({ days }) => days.expected > 0);
  const last = bases
    .map(({ until }) => until)
    .sort()
    .at(-1);
  const first = bases.map(({ from }) => from).sort()[0];
  if (last === undefined || first === undefined) return [];
  const unsettled = new Set(bases.flatMap(({ days }) => days.unsettled));
  const missing = new Set(bases.flatMap(({ days }) => days.missing));
  let settled: UtcDay = last;
  while (settled >= first && (unsettled.has(settled) || missing.has(settled)))
    settled = shiftDay(settled, -1);
  const before = [...unsettled].filter((day) => day < settled);
  return [
    settled < first
      ? 'no day is settled'
      : html`settled to <time datetime="${settled}">${dayName(settled)}</time>`,
    ...(before.length === 0 ? [] : [`not settled: ${daysWords(before)}`]),
    ...(missing.size === 0 ? [] : [`missing: ${daysWords([...missing])}`]),
  ];
}

/** The newest of the runs that changed what the numbers rest on. */
function runParts(results: readonly Result[]): (string | Markup)[] {
  const runs = results.flatMap(({ basis }) => basis.run ?? []);
  const run = runs.toSorted((a, b) => ((a.endedAt ?? '') < (b.endedAt ?? '') ? 1 : -1))[0];
  if (run === undefined) return [];
  const name = html`run <span title="${run.id}">${run.id.slice(0, RUN_CHARACTERS)}</span>`;
  return run.endedAt === null
    ? [name]
    : [name, html`<time datetime="${run.endedAt}">${instantWords(run.endedAt)}</time>`];
}

/** Longer titles of columns are cut. */
const COLUMN_TITLE_CHARACTERS_MAX = 40;

/** A table. Where it is too wide for the page it scrolls by itself. */
function tableHtml(table: Table, { frame, title }: { frame: Frame; title: string }): Markup {
  if (table.rows.length === 0) return html`<p class="empty">Nothing to list.</p>`;
  const { columns, rows } = table;
  const header = columns.findIndex(({ isRank }) => isRank !== true);
  return html`<div class="${table.isDense === true ? 'table dense' : 'table'}" tabindex="0" role="group" aria-label="${title}, table"><table><thead><tr>${columns.map((column) => columnHtml(column, table, frame))}</tr></thead>
<tbody>${rows.map(
    (
      cells,
    ) => html`<tr>${cells.map((cell, index) => cellHtml(cell, { column: columns[index], isHeader: index === header, isDense: table.isDense ?? false, frame }))}</tr>
`,
  )}</tbody></table></div>`;
}

function columnHtml(column: Column, { sorting }: Table, frame: Frame): Markup {
  const names = classNames(column);
  if (column.title === '') return html`<td class="${names}"></td>`;
  const { sort } = column;
  const isSorted = sort !== undefined && sorting?.by === sort;
  // A second click turns the order around; the first one shows the largest numbers, or the first names.
  const descending = isSorted ? !sorting?.descending : column.align === 'end';
  const href = sort === undefined ? null : (frame.here?.({ sort: { by: sort, descending } }) ?? null);
  // Some titles are names from the warehouse.
  const title = html`<bdi>${cut(column.title, COLUMN_TITLE_CHARACTERS_MAX)}</bdi>`;
  const name = href === null ? title : html`<a href="${href}">${title}</a>`;
  if (!isSorted) return html`<th scope="col" class="${names}">${name}</th>`;
  return html`<th scope="col" class="${names}" aria-sort="${sorting?.descending ? 'descending' : 'ascending'}">${name}<span class="order" aria-hidden="true">${sorting?.descending ? '↓' : '↑'}</span></th>`;
}

function cellHtml(
  cell: Cell,
  {
    column,
    isHeader,
    isDense,
    frame,
  }: { column: Column | undefined; isHeader: boolean; isDense: boolean; frame: Frame },
): Markup {
  const names = `${classNames(column)}${classOf(cell)}`.trim();
  const content = cellContentHtml(cell, frame);
  // A row of one line may cut a name, which is whole in its title.
  const isName = isDense && (cell.kind === 'link' || cell.kind === 'text') && column?.isRank !== true;
  const title = isName ? html` title="${cut(cell.text)}"` : '';
  return isHeader
    ? html`<th scope="row" class="${names}"${title}>${content}</th>`
    : html`<td class="${names}"${title}>${content}</td>`;
}

function cellContentHtml(cell: Cell, frame: Frame): Markup {
  switch (cell.kind) {
    case 'number':
      return numberHtml(cell, frame);
    case 'link':
      return linkHtml(cell, frame);
    case 'bar':
      return html`${raw(tableBar(cell))}`;
    case 'delta':
      return html`${raw(deltaBar(cell))}`;
    case 'step':
      return html`${raw(stepBar(cell))}`;
    case 'bullet':
      return html`${raw(bulletBar(cell))}`;
    case 'weeks':
      return html`${raw(weekBars(cell.values))}`;
    case 'phrase':
      return html`${phraseHtml(cell.parts, frame)}`;
    case 'state':
      return html`${raw(markSvg(cell.state))} ${MARK_NAMES[cell.state]}`;
    default:
      return textHtml(cell.text, { isCode: cell.isCode ?? false });
  }
}

function classNames(column: Column | undefined): string {
  return [column?.align === 'end' ? 'end' : '', column?.isSpare ? 'spare' : ''].join(' ').trim();
}

/** Short texts such as days and names of teams stay on one line; others break where the column ends. */
const SHORT_CHARACTERS = 20;
/** Longer texts are sentences, and get a wider column. */
const WORD_CHARACTERS = 40;

function classOf(cell: Cell): string {
  if (cell.kind === 'number') return ' number';
  if (cell.kind === 'delta' || cell.kind === 'bullet' || cell.kind === 'step') return ' bar';
  if (cell.kind === 'phrase') return ' short';
  if (cell.kind === 'bar' || cell.kind === 'state' || cell.kind === 'weeks') return ` ${cell.kind}`;
  const { length } = cell.text;
  const name = length <= SHORT_CHARACTERS ? ' short' : length <= WORD_CHARACTERS ? ' text' : ' text prose';
  return cell.kind === 'text' && cell.isMuted ? `${name} muted` : name;
}

/** A bar in a table, as wide as its share of the largest one. The number that it shows stands beside it. */
function tableBar({ value, max }: { value: number | null; max: number }): string {
  const percent = value === null || max <= 0 ? 0 : Math.min(100, Math.max(0, (100 * value) / max));
  // A bar of what is not nothing can be seen.
  const width = percent > 0 ? Math.max(1, Math.round(10 * percent) / 10) : 0;
  return `<svg class="bar" width="100%" height="8" aria-hidden="true"><rect width="${width}%" height="8" rx="2" fill="var(--bar)"/></svg>`;
}

/** A change from the middle: up to the right in the colour of the period, down to the left in grey. */
function deltaBar({ value, max }: { value: number | null; max: number }): string {
  const width = value === null || max <= 0 ? 0 : Math.min(50, Math.round((500 * Math.abs(value)) / max) / 10);
  const isUp = (value ?? 0) > 0;
  const rect = `<rect x="${isUp ? 50 : 50 - width}%" y="2" width="${width}%" height="8" fill="var(${isUp ? '--accent' : '--before'})"/>`;
  return `<svg class="bar" width="100%" height="12" aria-hidden="true">${width > 0 ? rect : ''}<rect x="50%" width="1" height="12" fill="var(--ink-3)"/></svg>`;
}

/** A step of a sum, up in the colour of the period and down in grey; a mark for a sum itself. */
function stepBar({ from, to, low, high }: Extract<Cell, { kind: 'step' }>): string {
  const at = (value: number) =>
    Math.round((980 * (value - low)) / Math.max(high - low, Number.MIN_VALUE)) / 10;
  const [start, end] = [at(Math.min(from, to)), at(Math.max(from, to))];
  const rect =
    from === to
      ? `<rect x="${start}%" width="2" height="14" fill="var(--ink)"/>`
      : `<rect x="${start}%" y="1" width="${Math.max(0.5, Math.round(10 * (end - start)) / 10)}%" height="12" fill="var(${to > from ? '--accent' : '--before'})"/>`;
  return `<svg class="bar" width="100%" height="14" aria-hidden="true">${rect}</svg>`;
}

/** Where the budget stands in a bullet, in per cent of the width. */
const BUDGET_PERCENT = 66.67;

/** Spent filled, the forecast as an outline, the range as a line, and the budget as a tick at two thirds. */
function bulletBar({ spent, forecast, range, budget }: Bullet): string {
  const whole = budget ?? Math.max(forecast ?? 0, spent ?? 0) * 1.1;
  if (whole <= 0) return '';
  const at = (value: number) =>
    Math.round(Math.min(1000, Math.max(0, (value / whole) * BUDGET_PERCENT * 10))) / 10;
  const outline =
    forecast === null
      ? ''
      : `<rect x="0" y="2.5" width="${at(forecast)}%" height="9" fill="var(--bar-weekend)" stroke="var(--accent)"/>`;
  const done =
    spent === null ? '' : `<rect x="0" y="2" width="${at(spent)}%" height="10" fill="var(--accent)"/>`;
  const line =
    range === null
      ? ''
      : `<line x1="${at(range[0])}%" x2="${at(range[1])}%" y1="7" y2="7" stroke="var(--ink-2)"/><rect x="${at(range[0])}%" y="4" width="1" height="6" fill="var(--ink-2)"/><rect x="${at(range[1])}%" y="4" width="1" height="6" fill="var(--ink-2)"/>`;
  const tick =
    budget === null ? '' : `<rect x="${BUDGET_PERCENT}%" width="2" height="14" fill="var(--ink)"/>`;
  return `<svg class="bar bullet" width="100%" height="14" aria-hidden="true">${outline}${done}${line}${tick}</svg>`;
}

const WEEK_PIXELS = 8;
const WEEKS_HEIGHT = 13;

/** A bar for each week; a week without use is a thin line, one of which nothing is known a gap. */
function weekBars(values: readonly (number | null)[]): string {
  const max = Math.max(...values.map((value) => value ?? 0));
  const bars = values.map((value, week) => {
    if (value === null) return '';
    // A bar of what is not nothing is higher than the line of nothing.
    const height = value > 0 ? Math.max(2, Math.round((WEEKS_HEIGHT * value) / max)) : 1;
    return `M${week * WEEK_PIXELS} ${WEEKS_HEIGHT}v${-height}h${WEEK_PIXELS - 2}v${height}z`;
  });
  const [used, unused] = [true, false].map((isUsed) =>
    bars.filter((_, week) => (values[week] ?? 0) > 0 === isUsed).join(''),
  );
  return `<svg class="bar" width="100%" height="${WEEKS_HEIGHT}" viewBox="0 0 ${values.length * WEEK_PIXELS - 2} ${WEEKS_HEIGHT}" preserveAspectRatio="none" aria-hidden="true"><path d="${unused}" fill="var(--before)"/><path d="${used}" fill="var(--accent)"/></svg>`;
}
