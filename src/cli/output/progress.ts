import type { Clock } from '../../core/clock.ts';
import type { RunReport } from '../../pipeline/index.ts';
import { unitName } from '../../units/index.ts';
import { counted, formatDuration, formatNumber } from '../screens/numbers.ts';
import { escapeForTerminal, truncateTo, widthOf } from '../screens/text.ts';
import type { Log, ReportedEvent } from './log.ts';
import type { Style } from './terminal.ts';

/** How often the line on a terminal is redrawn. */
const REDRAW_MS = 100;
/** Cells left free for the `^C` that the terminal appends. A line that wraps cannot be removed. */
const ROOM_FOR_ECHO = 3;
/** How often progress is logged if no line can be redrawn. */
const REPORT_MS = 30_000;

/** Shows the progress of a job. */
export interface Progress {
  observe(event: ReportedEvent): void;
  /** Removes the line and stops drawing. May be called several times. */
  stop(): void;
}

/** Shows nothing, for the log formats `json`, which contains every event, and `silent`. */
export const noProgress: Progress = { observe: () => undefined, stop: () => undefined };

/** Creates a progress bar on a terminal. */
export function createLiveProgress(options: {
  readonly line: LiveLine;
  readonly clock: Clock;
  readonly style: Style;
  columns(): number;
}): Progress {
  return ticking(options.clock, REDRAW_MS, {
    draw: (state, atMs) =>
      options.line.show(
        renderProgress(state, { atMs, width: options.columns() - ROOM_FOR_ECHO, style: options.style }),
      ),
    end: () => options.line.clear(),
  });
}

/** Creates a progress that writes to the log every 30 seconds. */
export function createSteadyProgress(options: { readonly log: Log; readonly clock: Clock }): Progress {
  return ticking(options.clock, REPORT_MS, {
    draw: (state, atMs) => {
      if (state.unitsPlanned === null && state.waiting === null) return;
      options.log.write({ level: 'info', event: 'progress', message: describeProgress(state, atMs) });
    },
    end: () => undefined,
  });
}

interface Display {
  draw(state: ProgressState, atMs: number): void;
  end(): void;
}

function ticking(clock: Clock, everyMs: number, display: Display): Progress {
  let state = startProgress(clock.monotonicMs());
  let timer: NodeJS.Timeout | null = null;
  const stop = () => {
    if (timer !== null) clearInterval(timer);
    timer = null;
    display.end();
  };
  return {
    observe: (event) => {
      if (['run-ended', 'copy-ended', 'round-ended'].includes(event.type)) return stop();
      // A service performs many runs, each with its own progress.
      if (event.type === 'tick') state = startProgress(clock.monotonicMs());
      state = advance(state, event, clock.monotonicMs());
      // The timer starts with the job, and does not keep a finished process alive.
      if (event.type === 'run-started' || event.type === 'copy-started')
        timer ??= setInterval(() => display.draw(state, clock.monotonicMs()), everyMs).unref();
    },
    stop,
  };
}

const RETURN_AND_CLEAR = '\r\u001b[2K';

/** A line at the bottom of a terminal that is redrawn in place, below all other output. */
interface LiveLine {
  /** Draws a text, which must have no line breaks and be narrower than the terminal. */
  show(text: string): void;
  /** Prints a line of other output. */
  printAbove(line: string): void;
  /** Removes the line. */
  clear(): void;
}

/** Creates a live line on a terminal that understands ANSI control codes. */
export function createLiveLine(write: (text: string) => void): LiveLine {
  let shown = '';
  return {
    show: (text) => {
      if (text === shown) return;
      write(RETURN_AND_CLEAR + text);
      shown = text;
    },
    printAbove: (line) => {
      // A single write, so that the terminal never shows an intermediate state.
      write(shown === '' ? `${line}\n` : `${RETURN_AND_CLEAR}${line}\n${shown}`);
    },
    clear: () => {
      if (shown !== '') write(RETURN_AND_CLEAR);
      shown = '';
    },
  };
}

const BAR_MIN = 10;
const BAR_MAX = 40;
const GAP = '  ';

interface ProgressFrame {
  readonly atMs: number;
  /** The maximum width in cells. A longer line would wrap. */
  readonly width: number;
  readonly style: Style;
}

/** Draws the progress as one line: a bar, then as many of the numbers as fit. */
export function renderProgress(state: ProgressState, frame: ProgressFrame): string {
  const parts = partsOf(state, frame.atMs);
  if (state.waiting !== null) return truncateTo(parts.join(GAP), frame.width);
  if (state.unitsPlanned === null) return truncateTo(state.preparing, frame.width);
  const text = fittingPrefix(parts, frame.width - BAR_MIN - GAP.length);
  const room = frame.width - widthOf(text) - GAP.length;
  if (room < BAR_MIN) return truncateTo(text, frame.width);
  return `${bar(state, Math.min(BAR_MAX, room), frame.style)}${GAP}${text}`;
}

/** Describes the progress in words, without a bar. */
export function describeProgress(state: ProgressState, atMs: number): string {
  return partsOf(state, atMs).join(', ');
}

function partsOf(state: ProgressState, atMs: number): string[] {
  const ended = unitsEnded(state);
  const rate = requestRate(state, atMs);
  const leftMs = timeLeftMs(state, atMs);
  return [
    ...(state.waiting === null ? [] : [`waiting for the service since ${state.waiting}`]),
    ...(state.unitsPlanned === null
      ? []
      : [`${formatNumber(ended)}/${formatNumber(state.unitsPlanned)} units`]),
    ...(leftMs === null ? [] : [`${formatDuration(leftMs)} left`]),
    counted(state.rowsWritten, 'row'),
    ...(state.unitsFailed === 0 ? [] : [`${formatNumber(state.unitsFailed)} failed`]),
    ...(rate === null || state.requests === 0 ? [] : [`${formatNumber(Math.round(rate))} requests/s`]),
    ...(state.retries === 0 ? [] : [counted(state.retries, 'retry', 'retries')]),
    ...(state.current === '' ? [] : [state.current]),
    ...(state.organization === '' ? [] : [state.organization]),
  ];
}

function fittingPrefix(parts: readonly string[], width: number): string {
  let text = parts[0] ?? '';
  for (const part of parts.slice(1)) {
    const longer = text + GAP + part;
    if (widthOf(longer) > width) break;
    text = longer;
  }
  return text;
}

function bar(state: ProgressState, width: number, style: Style): string {
  const planned = Math.max(1, state.unitsPlanned ?? 0);
  const filled = Math.min(width, Math.floor((unitsEnded(state) / planned) * width));
  return style.green('━'.repeat(filled)) + style.dim('─'.repeat(width - filled));
}

/** The period over which the request rate is measured. */
const WINDOW_MS = 10_000;
/** The shortest time between two samples, which bounds their number. */
const SAMPLE_MS = 250;

interface Sample {
  readonly atMs: number;
  readonly requests: number;
}

/** The progress of a job, derived from its events. Times are monotonic milliseconds. */
interface ProgressState
  extends Pick<RunReport, 'unitsDone' | 'unitsFailed' | 'rowsWritten' | 'requests' | 'retries'> {
  readonly startedMs: number;
  /** The current step, before the plan is known. */
  readonly preparing: string;
  /** The name of the organization; '' without one. */
  readonly organization: string;
  /** Null before the plan is known. */
  readonly unitsPlanned: number | null;
  /** Committed by other workers since the plan was made. */
  readonly unitsByOthers: number;
  /** The unit that ended last, or the step after the units. */
  readonly current: string;
  /** Since when the service is waited for, as a time of day; null if it is not. */
  readonly waiting: string | null;
  readonly samples: readonly Sample[];
}

/** The state at the start of a job. */
export function startProgress(startedMs: number, organization?: string): ProgressState {
  const whose = organization === undefined ? '' : `${escapeForTerminal(organization)}: `;
  return {
    startedMs,
    preparing: `${whose}looking up the organization of the API key …`,
    organization: organization === undefined ? '' : escapeForTerminal(organization),
    unitsPlanned: null,
    unitsDone: 0,
    unitsByOthers: 0,
    unitsFailed: 0,
    rowsWritten: 0,
    requests: 0,
    retries: 0,
    current: '',
    waiting: null,
    samples: [{ atMs: startedMs, requests: 0 }],
  };
}

/** The state after an event. */
export function advance(state: ProgressState, event: ReportedEvent, atMs: number): ProgressState {
  switch (event.type) {
    // A round has a run for each organization, one after the other.
    case 'run-started':
      return startProgress(atMs, event.organization);
    case 'planned':
      return { ...state, unitsPlanned: (state.unitsPlanned ?? 0) + event.units };
    case 'unit-done':
      return sampled(
        {
          ...state,
          unitsDone: state.unitsDone + 1,
          rowsWritten: state.rowsWritten + event.rowsWritten,
          requests: state.requests + event.requests,
          current: unitName(event),
        },
        atMs,
      );
    case 'unit-elsewhere':
      return { ...state, unitsByOthers: state.unitsByOthers + 1 };
    case 'unit-failed':
      return { ...state, unitsFailed: state.unitsFailed + 1 };
    case 'retry':
      return { ...state, retries: state.retries + 1 };
    case 'wait-began':
      return {
        ...state,
        waiting: `${event.since.slice('YYYY-MM-DDT'.length, 'YYYY-MM-DDTHH:MM:SS'.length)} UTC`,
      };
    case 'wait-ended':
      return { ...state, waiting: null };
    case 'copy-started':
      return { ...state, preparing: 'comparing the two warehouses …' };
    case 'copy-planned':
      return { ...state, unitsPlanned: event.units };
    case 'copied':
      return {
        ...state,
        unitsDone: state.unitsDone + event.units,
        rowsWritten: state.rowsWritten + event.rowsWritten,
        current: `${event.what} ${event.lastDay}`.trim(),
      };
    case 'copy-comparing':
      return { ...state, current: `comparing ${event.table}` };
    default:
      return state;
  }
}

/** Requests per second over the last ten seconds; null as long as there is too little data. */
export function requestRate({ samples, requests }: ProgressState, atMs: number): number | null {
  const oldest = samples[0];
  if (oldest === undefined || atMs - oldest.atMs < 2 * SAMPLE_MS) return null;
  return ((requests - oldest.requests) * 1_000) / (atMs - oldest.atMs);
}

/** The number of units that have ended, with or without success. */
function unitsEnded({ unitsDone, unitsByOthers, unitsFailed }: ProgressState): number {
  return unitsDone + unitsByOthers + unitsFailed;
}

/** Estimated milliseconds to the end; null as long as there is too little data. */
export function timeLeftMs(state: ProgressState, atMs: number): number | null {
  const ended = unitsEnded(state);
  const elapsedMs = atMs - state.startedMs;
  if (state.unitsPlanned === null || ended < 3 || elapsedMs < 1_000) return null;
  return (elapsedMs / ended) * Math.max(0, state.unitsPlanned - ended);
}

function sampled(state: ProgressState, atMs: number): ProgressState {
  const last = state.samples.at(-1);
  if (last !== undefined && atMs - last.atMs < SAMPLE_MS) return state;
  const recent = state.samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS);
  return { ...state, samples: [...recent, { atMs, requests: state.requests }] };
}
