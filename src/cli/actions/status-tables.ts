import { monthOf, type UtcDay } from '../../core/day.ts';
import type { DayState, OrganizationStatus, SchemaDrift } from '../../status/index.ts';
import { UNIT_STATES, type UnitState } from '../../units/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Paint, Style } from '../output/terminal.ts';
import { counted } from '../screens/numbers.ts';
import { type Cell, renderTable, right, shrinking, type TableFrame } from '../screens/table.ts';

/** How many months are shown, so that the calendar of a long history fits on one page. */
const MONTHS_SHOWN_MAX = 18;
const DAYS_PER_MONTH_MAX = 31;
const LABEL_WIDTH = 9;

/** A day and its state. */
interface CalendarDay {
  readonly day: UtcDay;
  readonly state: DayState;
}

interface Mark {
  /** One cell, recognizable without colour. */
  readonly symbol: string;
  readonly meaning: string;
  readonly paint: (style: Style) => Paint;
}

const MARKS: Readonly<Record<DayState, Mark>> = {
  settled: { symbol: '■', meaning: 'settled', paint: (style) => style.green },
  unsettled: { symbol: '□', meaning: 'stored, not settled yet', paint: (style) => style.green },
  empty: { symbol: '-', meaning: 'no activity', paint: (style) => style.dim },
  awaiting: { symbol: 'a', meaning: 'awaiting the daily batch', paint: (style) => style.cyan },
  pending: { symbol: '·', meaning: 'never pulled', paint: (style) => style.yellow },
  doubted: { symbol: '?', meaning: 'loss doubted', paint: (style) => style.yellow },
  quarantined: { symbol: 'Q', meaning: 'records quarantined', paint: (style) => style.magenta },
  expired: { symbol: 'x', meaning: 'people expired', paint: (style) => style.dim },
  failed: { symbol: 'F', meaning: 'failed', paint: (style) => style.red },
};

interface CalendarFrame {
  readonly width: number;
  readonly style: Style;
}

/**
 * Draws one line per month, with a mark for each day, and a legend. Marks are separated by blanks if there is room;
 * returns null if not even adjacent marks fit.
 */
export function renderCalendar(
  days: readonly CalendarDay[],
  { width, style }: CalendarFrame,
): string[] | null {
  const pitch = [2, 1].find((cells) => LABEL_WIDTH + DAYS_PER_MONTH_MAX * cells <= width);
  if (pitch === undefined || days.length === 0) return null;
  const months = [...groupByMonth(days)];
  const shown = months.slice(-MONTHS_SHOWN_MAX);
  const lines = shown.map(([month, own]) => `${label(month.slice(0, 7))}${cells(own, pitch, style)}`);
  const earlier = months.length - shown.length;
  const note =
    earlier > 0 ? [style.dim(`${earlier} earlier months are not shown; --json has every day`)] : [];
  return [style.dim(label('') + ruler(pitch)), ...lines, ...legend(days, width, style), ...note];
}

function groupByMonth(days: readonly CalendarDay[]): Map<UtcDay, CalendarDay[]> {
  const months = new Map<UtcDay, CalendarDay[]>();
  for (const entry of days) {
    const month = monthOf(entry.day);
    months.set(month, [...(months.get(month) ?? []), entry]);
  }
  return months;
}

function label(text: string): string {
  return text.padEnd(LABEL_WIDTH);
}

/** The numbers of the first and every fifth day. */
function ruler(pitch: number): string {
  const marks = Array.from({ length: DAYS_PER_MONTH_MAX }, (_, index) => index + 1).filter(
    (day) => day === 1 || day % 5 === 0,
  );
  return marks.reduce((line, day) => line.padEnd((day - 1) * pitch) + String(day), '');
}

function cells(days: readonly CalendarDay[], pitch: number, style: Style): string {
  const byNumber = new Map(days.map(({ day, state }) => [Number(day.slice(8)), state]));
  const last = Math.max(...byNumber.keys());
  const drawn = Array.from({ length: last }, (_, index) => {
    const state = byNumber.get(index + 1);
    const symbol = state === undefined ? ' ' : MARKS[state].paint(style)(MARKS[state].symbol);
    return symbol + ' '.repeat(pitch - 1);
  });
  return drawn.join('').trimEnd();
}

/** Explains the marks that occur, with as many on a line as fit. */
function legend(days: readonly CalendarDay[], width: number, style: Style): string[] {
  const present = new Set(days.map(({ state }) => state));
  const lines: { plain: number; text: string }[] = [];
  for (const [state, { symbol, meaning, paint }] of Object.entries(MARKS)) {
    if (![...present].some((known) => known === state)) continue;
    const plain = symbol.length + 1 + meaning.length;
    const text = `${paint(style)(symbol)} ${meaning}`;
    const last = lines.at(-1);
    if (last !== undefined && last.plain + 3 + plain <= width) {
      lines[lines.length - 1] = { plain: last.plain + 3 + plain, text: `${last.text}   ${text}` };
    } else {
      lines.push({ plain, text });
    }
  }
  return lines.map(({ text }) => text);
}

const PAINTS: Readonly<Record<UnitState, (style: Style) => Paint>> = {
  loaded: (style) => style.green,
  empty: (style) => style.dim,
  awaiting: (style) => style.cyan,
  pending: (style) => style.yellow,
  doubted: (style) => style.yellow,
  quarantined: (style) => style.magenta,
  failed: (style) => style.red,
  expired: (style) => style.dim,
};

/** Draws the units of each stream by state. States without any unit have no column. */
export function renderStreams({ streams }: OrganizationStatus, frame: TableFrame): string[] {
  const states = UNIT_STATES.filter(
    (state) => state === 'loaded' || streams.some(({ units }) => units[state] > 0),
  );
  const columns = ['stream', 'newest data', ...states.map(right), right('settled'), right('rows')];
  const rows = streams.map(({ stream, units, settled, rows: held, newestDataDay }): Cell[] => [
    stream,
    newestDataDay,
    ...states.map((state) => paintNonZero(units[state], PAINTS[state](frame.style))),
    stream === 'readiness' ? null : settled,
    held,
  ]);
  return renderTable(columns, rows, frame);
}

function paintNonZero(count: number, paint: Paint): Cell {
  return count === 0 ? count : { content: count, paint };
}

const SHOWN_MAX = 5;

/** Draws the latest unknown fields and values in responses, and how many more there are. */
export function renderSchemaDrift({ places, listed }: SchemaDrift, frame: ScreenFrame): string[] {
  if (places === 0) return [];
  const rows = listed
    .slice(0, SHOWN_MAX)
    .map(({ stream, path, kind, sample, since }): Cell[] => [
      stream,
      kind,
      since,
      frame.redact(path),
      frame.redact(sample),
    ]);
  const columns = ['stream', 'kind', 'since', shrinking('place'), shrinking('sample')];
  const more =
    places > SHOWN_MAX
      ? [`and ${counted(places - SHOWN_MAX, 'more place')}, see the table schema_drift`]
      : [];
  return [...renderTable(columns, rows, frame), ...more.map(frame.style.dim)];
}
