import type { Clock } from '../../core/clock.ts';
import type { Log } from '../log/log.ts';
import type { ReportedEvent } from '../output/reported-event.ts';
import type { Style } from '../text/style.ts';
import type { LiveLine } from './live-line.ts';
import { describeProgress, renderProgress } from './progress-line.ts';
import { advance, type ProgressState, startProgress } from './progress-state.ts';

/** A terminal is drawn at most ten times a second. */
const REDRAW_MS = 100;
/** A line that wraps cannot be taken back, and the terminal itself writes `^C` behind it. */
const ROOM_FOR_ECHO = 3;
/** Where no line can be drawn again, people read how far it is this often. */
const REPORT_MS = 30_000;

/** Shows how far a job is. */
export interface Progress {
  observe(event: ReportedEvent): void;
  /** Removes what it drew and stops drawing. May be called again. */
  stop(): void;
}

/** Nothing is shown: logs for machines hold every event, and silence is silence. */
export const noProgress: Progress = { observe: () => undefined, stop: () => undefined };

/** A bar on a terminal, redrawn in place. */
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

/** A line in the log now and then, for people who read it later. */
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
      if (event.type === 'run-ended' || event.type === 'copy-ended') return stop();
      state = advance(state, event, clock.monotonicMs());
      // The timer starts with the job, and does not keep a process alive that has nothing else to do.
      if (event.type === 'run-started' || event.type === 'copy-started')
        timer ??= setInterval(() => display.draw(state, clock.monotonicMs()), everyMs).unref();
    },
    stop,
  };
}
