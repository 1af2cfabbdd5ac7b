import { html, raw } from 'hono/html';
import { markSvg } from '../charts/marks.ts';
import { tableBar } from '../charts/table-bar.ts';
import { type Cell, type Column, MARK_NAMES, type Table } from '../page/page.ts';
import type { Frame } from './frame.ts';
import { numberHtml } from './number.ts';
import { cut, linkHtml, type Markup, textHtml } from './text.ts';

/** Longer titles of columns are cut. */
const TITLE_CHARACTERS_MAX = 40;

/** A table. Where it is too wide for the page it scrolls by itself. */
export function tableHtml(table: Table, { frame, title }: { frame: Frame; title: string }): Markup {
  if (table.rows.length === 0) return html`<p class="empty">Nothing to list.</p>`;
  const { columns, rows } = table;
  return html`<div class="table" tabindex="0" role="group" aria-label="${title}, table"><table><thead><tr>${columns.map((column) => columnHtml(column, table, frame))}</tr></thead>
<tbody>${rows.map(
    (
      cells,
    ) => html`<tr>${cells.map((cell, index) => cellHtml(cell, { column: columns[index], isFirst: index === 0, frame }))}</tr>
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
  const title = html`<bdi>${cut(column.title, TITLE_CHARACTERS_MAX)}</bdi>`;
  const name = href === null ? title : html`<a href="${href}">${title}</a>`;
  if (!isSorted) return html`<th scope="col" class="${names}">${name}</th>`;
  return html`<th scope="col" class="${names}" aria-sort="${sorting?.descending ? 'descending' : 'ascending'}">${name}<span class="order" aria-hidden="true">${sorting?.descending ? '↓' : '↑'}</span></th>`;
}

function cellHtml(
  cell: Cell,
  { column, isFirst, frame }: { column: Column | undefined; isFirst: boolean; frame: Frame },
): Markup {
  const names = `${classNames(column)}${classOf(cell)}`.trim();
  const content = contentHtml(cell, frame);
  return isFirst
    ? html`<th scope="row" class="${names}">${content}</th>`
    : html`<td class="${names}">${content}</td>`;
}

function contentHtml(cell: Cell, frame: Frame): Markup {
  switch (cell.kind) {
    case 'number':
      return numberHtml(cell);
    case 'link':
      return linkHtml(cell, frame);
    case 'bar':
      return html`${raw(tableBar(cell))}`;
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
  if (cell.kind === 'bar' || cell.kind === 'state') return ` ${cell.kind}`;
  const { length } = cell.text;
  const name = length <= SHORT_CHARACTERS ? ' short' : length <= WORD_CHARACTERS ? ' text' : ' text prose';
  return cell.kind === 'text' && cell.isMuted ? `${name} muted` : name;
}
