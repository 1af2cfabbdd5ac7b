import { html } from 'hono/html';
import { daysBetween, type UtcDay, weekdayOf } from '../../core/day.ts';
import { type Chart, MARK_NAMES, type MarkState } from '../page.ts';
import { dayName, shortMonth } from '../words.ts';
import { COLORS, plainText } from './ink.ts';
import { type Mark, timeTicks } from './plot.ts';

/** Side of a mark in pixels. */
const MARK_SIZE = 12;

/**
 * What all drawings of a document share: the hatching of what is not settled, and the marks of the calendar. A document
 * holds it once, before the first drawing.
 */
export function sharedMarks(): string {
  const hatches = [
    hatch('hatch', 'var(--hatch)'),
    ...[1, 2, 3, 4].map((category) => hatch(`hatch-${category - 1}`, `var(--category-${category})`)),
    hatch('hatch-4', 'var(--others)'),
  ];
  const symbols = Object.entries(MARKS).map(
    ([state, shape]) => `<symbol id="mark-${state}" viewBox="0 0 12 12">${shape}</symbol>`,
  );
  return `<svg class="shared" width="0" height="0" aria-hidden="true" focusable="false"><defs>${hatches.join('')}${symbols.join('')}</defs></svg>`;
}

/** The mark of a state, for legends and tables. Its name stands beside it. */
export function markSvg(state: MarkState): string {
  return `<svg class="mark" width="12" height="12" aria-hidden="true"><use href="#mark-${state}"/></svg>`;
}

const BOX = 'x="0.5" y="0.5" width="11" height="11" rx="2"';

/** Each differs from the others without colour. */
const MARKS: Readonly<Record<MarkState, string>> = {
  loaded: '<rect width="12" height="12" rx="2" fill="var(--bar)"/>',
  empty: `<rect ${BOX} fill="var(--paper)" stroke="var(--ink-3)"/><circle cx="6" cy="6" r="1.25" fill="var(--ink-2)"/>`,
  seen: '<rect width="12" height="12" rx="2" fill="var(--bar)"/><circle cx="6" cy="6" r="2" fill="var(--paper)"/>',
  open: `<rect ${BOX} fill="url(#hatch)" stroke="var(--hatch)"/>`,
  quarantined:
    '<rect width="12" height="12" rx="2" fill="var(--bar)"/><path d="M2.5 9.5l7-7" stroke="var(--ink)" stroke-width="1.5"/>',
  doubted: `<rect width="12" height="12" rx="2" fill="var(--doubted)"/>${sign('?')}`,
  failed: `<rect width="12" height="12" rx="2" fill="var(--failed)"/>${sign('!')}`,
  awaiting: `<rect ${BOX} fill="var(--paper)" stroke="var(--ink-2)"/><path d="M6 3v3l2 1.5" fill="none" stroke="var(--ink-2)"/>`,
  expired: `<rect ${BOX} fill="none" stroke="var(--ink-3)"/><path d="M3 6h6" stroke="var(--ink-3)"/>`,
  pending: `<rect ${BOX} fill="none" stroke="var(--ink-3)" stroke-dasharray="2 2"/>`,
};

function sign(character: string): string {
  return `<text x="6" y="9.4" text-anchor="middle" font-size="9.5" font-weight="700" fill="var(--paper)">${character}</text>`;
}

function hatch(id: string, color: string): string {
  return `<pattern id="${id}" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="4" height="4" fill="var(--paper)"/><rect width="2" height="4" fill="${color}"/></pattern>`;
}

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

const ROW_STEP_MAX = 20;
const ROW_WIDTH = 980;
const NAME_WIDTH = 92;
/** Room for a day such as `14 Jan` below the newest column. */
const TICK_WIDTH = 60;

/** A row of squares per name, a column per UTC day. The newest day is at the right. */
export function calendarRows(
  rows: readonly { readonly name: string; readonly days: readonly CalendarDay[] }[],
  label: string,
): Chart {
  const days = rows[0]?.days ?? [];
  const step = Math.max(STEP, Math.min(ROW_STEP_MAX, Math.floor(ROW_WIDTH / Math.max(1, days.length))));
  const [columns, height] = [days.length * step, rows.length * STEP];
  const width = columns + TICK_WIDTH - step;
  const squares = rows.flatMap(({ name, days: own }, row) =>
    own.map(
      ({ day, state }, column) =>
        html`<use href="#mark-${state}" x="${column * step}" y="${row * STEP}" width="${step - 2}" height="${MARK_SIZE}"><title>${name}, ${dayName(day)}: ${MARK_NAMES[state]}</title></use>`,
    ),
  );
  const buckets: readonly string[] = days.map(({ day }) => day);
  const ticks = [...timeTicks(buckets, columns)].map(
    ([bucket, text]) => html`<text x="${buckets.indexOf(bucket) * step}" y="${height + 14}">${text}</text>`,
  );
  const axis = html`<svg class="axis plot" width="${NAME_WIDTH}" height="${height}" aria-hidden="true">${rows.map(({ name }, row) => html`<text x="0" y="${row * STEP + 10}" fill="${COLORS.ink}">${name}</text>`)}</svg>`;
  const svg = html`<svg class="plot calendar" width="${width}" height="${height + 18}" viewBox="0 0 ${width} ${height + 18}" role="img" aria-label="${plainText(label)}">${squares}${ticks}</svg>`;
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
