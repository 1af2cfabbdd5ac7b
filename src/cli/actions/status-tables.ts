import { monthOf, type UtcDay } from '../../core/day.ts';
import type {
  DayState,
  OpenState,
  OpenStateName,
  OrganizationStatus,
  SchemaDrift,
} from '../../status/index.ts';
import { UNIT_STATES, type UnitState } from '../../units/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Paint, Style } from '../output/terminal.ts';
import { counted } from '../screens/numbers.ts';
import { type Cell, renderTable, right, shrinking, type TableFrame } from '../screens/table.ts';
import { wrapText } from '../screens/text.ts';

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

interface OpenText {
  readonly title: (open: OpenState) => string;
  /** What is counted. */
  readonly noun: string;
  readonly ends: (open: OpenState) => string;
}

const GONE = 'if the service still lacks them; if they are gone for good: daywalk run --accept-loss';

const OPEN_TEXTS: Readonly<Record<OpenStateName, OpenText>> = {
  quarantined: {
    title: () => 'records in quarantine that cannot be read',
    noun: 'record',
    ends: () => 'when the service corrects them, or: daywalk quarantine accept',
  },
  mass: {
    title: () => 'many settled days differ from the service at once',
    noun: 'day',
    ends: ({ endsOn }) => `on ${endsOn} if the service keeps answering the same: it is stored then`,
  },
  flapping: {
    title: () => 'the service alternates between answers, so that every change needs five equal looks',
    noun: 'unstable unit',
    ends: ({ endsOn }) => `on ${endsOn} if no unit goes back and forth until then`,
  },
  unstable: {
    title: () => 'answers that go back and forth; what is stored of settled units stays',
    noun: 'unit',
    ends: ({ endsOn }) => `on ${endsOn} if the service keeps answering the same`,
  },
  'seen-otherwise': {
    title: () => 'settled units that differ from the service',
    noun: 'unit',
    ends: ({ endsOn }) => `on ${endsOn} if the service keeps answering the same: it is stored then`,
  },
  'first-looks': {
    title: () => 'history that has not been seen often enough to settle',
    noun: 'unit',
    ends: ({ endsOn }) => `on ${endsOn} if runs until then find the same: the units settle then`,
  },
  'left-out': {
    title: () => 'looks and comparisons for which the last run had no requests left',
    noun: 'unit',
    ends: ({ endsOn }) => `on ${endsOn} if that run has enough requests, see --max-requests`,
  },
  impossible: {
    title: () => 'records in quarantine that cannot be true',
    noun: 'record',
    ends: ({ endsOn }) =>
      `when a response is possible, or on ${endsOn} if none is by then; until then, the stored rows stay`,
  },
  doubted: {
    title: () => 'stored rows that the service no longer returns',
    noun: 'unit',
    ends: ({ endsOn }) => `when the rows are back, or on ${endsOn} ${GONE}`,
  },
  'most-reports-missing': {
    title: () => 'most readiness reports are missing in the list',
    noun: 'report',
    ends: ({ endsOn }) => `when the list has them again, or on ${endsOn} ${GONE}`,
  },
  'reports-missing': {
    title: () => 'readiness reports are missing in the list',
    noun: 'report',
    ends: ({ endsOn }) => `when the list has them again, or on ${endsOn} ${GONE}`,
  },
  leavers: {
    title: () => 'a few users are gone from days, and nobody came, as if they had left',
    noun: 'unit',
    ends: ({ endsOn }) => `when they are back, or on ${endsOn} if they are still gone: that is stored then`,
  },
  'figures-disagree': {
    title: () => 'days whose streams contradict each other in numbers',
    noun: 'unit',
    ends: ({ endsOn }) =>
      `when they agree, or on ${endsOn} if the service keeps answering the same: it is stored then, unconfirmed`,
  },
  'never-active': {
    title: ({ firstDay }) => `no activity has ever been seen since ${firstDay}`,
    noun: 'unit',
    ends: () => 'when a run stores activity: until then, no empty day settles',
  },
};

/** What ends a state. */
export function endOfOpen(open: OpenState): string {
  return `ends ${OPEN_TEXTS[open.state].ends(open)}`;
}

/** At most this many lines say what is open, how much, or what ends it. */
const OPEN_LINES_MAX = 3;

/** Draws what is open, the most urgent first: how much, since when, and what ends it. */
export function renderOpen(open: readonly OpenState[], { style, width }: ScreenFrame): string[] {
  return open.flatMap((one) => {
    const { exitCode, looks } = one;
    const { title, noun } = OPEN_TEXTS[one.state];
    const parts = [
      counted(one.count, noun),
      ...(one.firstDay === null || one.lastDay === null ? [] : [spanText(one.firstDay, one.lastDay)]),
      `since ${one.since.slice(0, 'YYYY-MM-DD'.length)}`,
      ...(looks === null ? [] : [`${looks.soFar} of ${looks.needed} days`]),
      `exit code ${exitCode}`,
    ];
    const paint = exitCode === 0 ? style.cyan : style.yellow;
    const ends = wrapText(endOfOpen(one), { width, lead: '    ', linesMax: OPEN_LINES_MAX });
    const facts = wrapText(parts.join(', '), { width, lead: '    ', linesMax: OPEN_LINES_MAX });
    const titles = wrapText(title(one), { width, lead: '  ', linesMax: OPEN_LINES_MAX });
    return [...titles.map(paint), ...facts, ...ends.map(style.dim)];
  });
}

/** The first and the last of some days. */
export function spanText(firstDay: UtcDay, lastDay: UtcDay): string {
  return firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`;
}
