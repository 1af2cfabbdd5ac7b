import type { Clock } from '../../core/clock.ts';
import type { Log } from '../log/log.ts';
import type { ReportedEvent } from '../output/reported-event.ts';
import type { Style } from '../text/style.ts';
import type { LiveLine } from './live-line.ts';
import { describeProgress, renderProgress } from './progress-line.ts';
import { advance, type ProgressState, startProgress } from './progress-state.ts';

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
      if (state.unitsPlanned === null) return;
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
