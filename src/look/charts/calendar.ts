import { html } from 'hono/html';
import { daysBetween, type UtcDay, weekdayOf } from '../../core/day.ts';
import { type Chart, MARK_NAMES, type MarkState } from '../page/page.ts';
import { dayName, shortMonth } from '../words/spans.ts';
import { MARK_SIZE } from './marks.ts';
import type { Mark } from './plot.ts';
import { plainText } from './svg-text.ts';

/** A square of the calendar. */
export interface CalendarDay {
  readonly day: UtcDay;
  readonly state: MarkState;
  /** After the name of the state, for people who point at the square: `: tools, users`. */
  readonly note?: string;
}

const STEP = MARK_SIZE + 2;
const LEFT = 36;
const TOP = 18;
/** A month's name needs so many columns to the next one. */
const WEEKS_PER_NAME = 3;
const WEEKDAYS = [
  [1, 'Mon'],
  [3, 'Wed'],
  [5, 'Fri'],
] as const;

/**
 * One square per UTC day, a column per week from Monday down. Days are in order. Each state has a mark of its own, see
 * {@link MarkState}, which the document holds once.
 */
export function calendar(days: readonly CalendarDay[], label: string): Chart {
  const first = days[0]?.day;
  const placed = days.map((own) => ({ ...own, week: weekOf(own.day, first ?? own.day) }));
  const weeks = (placed.at(-1)?.week ?? 0) + 1;
  const squares = placed.map(
    ({ day, state, week, note = '' }) =>
      html`<use href="#mark-${state}" x="${week * STEP}" y="${TOP + (weekdayOf(day) - 1) * STEP}" width="${MARK_SIZE}" height="${MARK_SIZE}"><title>${dayName(day)} ${day.slice(0, 4)}: ${MARK_NAMES[state]}${note}</title></use>`,
  );
  const width = Math.max(weeks, WEEKS_PER_NAME) * STEP;
  const height = TOP + 7 * STEP;
  const axis = html`<svg class="axis plot" width="${LEFT}" height="${height}" aria-hidden="true">${WEEKDAYS.map(([weekday, name]) => html`<text x="0" y="${TOP + (weekday - 1) * STEP + 10}">${name}</text>`)}</svg>`;
  const svg = html`<svg class="plot calendar" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${plainText(label)}">${monthNames(placed)}${squares}</svg>`;
  return { svg: String(svg), axis: String(axis), label };
}

function weekOf(day: UtcDay, first: UtcDay): number {
  return Math.floor((daysBetween(first, day) + weekdayOf(first) - 1) / 7);
}

/** Names above the columns in which months begin; the year where it changes. */
function monthNames(days: readonly { readonly day: UtcDay; readonly week: number }[]): Mark[] {
  const starts = days.filter(({ day }, index) => index === 0 || day.endsWith('-01'));
  return starts
    .filter(
      ({ week }, index) =>
        index === starts.length - 1 || (starts[index + 1]?.week ?? 0) - week >= WEEKS_PER_NAME,
    )
    .map(({ day, week }) => {
      const year = day.slice(5, 7) === '01' && day !== starts[0]?.day ? ` ${day.slice(0, 4)}` : '';
      return html`<text x="${week * STEP}" y="11">${shortMonth(day)}${year}</text>`;
    });
}
