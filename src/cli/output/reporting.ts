import type { Clock } from '../../core/clock.ts';
import type { Redactor } from '../../settings/secrets.ts';
import type { LogFormat } from '../../settings/settings.ts';
import { escapeForTerminal, wrapText } from '../screens/text.ts';
import { describeEvent } from './describe-event.ts';
import { createJsonLog, type Log, type LogEntry, publicLog, type ReportedEvent, silentLog } from './log.ts';
import {
  createLiveLine,
  createLiveProgress,
  createSteadyProgress,
  noProgress,
  type Progress,
} from './progress.ts';
import type { Sink, Style, Terminal } from './terminal.ts';

/** The log and the progress of a command, on standard error. */
export interface Reporting {
  readonly log: Log;
  /** Passes an event of a job to the log and the progress. */
  observe(event: ReportedEvent): void;
  /** Removes the progress line, so that a result can be printed. */
  stop(): void;
}

export interface ReportingOptions {
  readonly format: LogFormat;
  readonly sink: Sink;
  readonly terminal: Terminal;
  readonly redact: Redactor;
  readonly clock: Clock;
  /**
   * Leave out texts of the service and everything that may name a person.
   * @default false
   */
  readonly isPublic?: boolean;
}

/** Creates the reporting in a format: lines for people, with a progress bar on a terminal; lines of JSON; or nothing. */
export function createReporting(options: ReportingOptions): Reporting {
  const { log: whole, progress } = PARTS[options.format](options);
  const log = options.isPublic === true ? publicLog(whole) : whole;
  return {
    log,
    observe: (event) => {
      progress.observe(event);
      log.write(describeEvent(event));
    },
    stop: () => progress.stop(),
  };
}

interface Parts {
  readonly log: Log;
  readonly progress: Progress;
}

const PARTS: Readonly<Record<LogFormat, (options: ReportingOptions) => Parts>> = {
  silent: () => ({ log: silentLog, progress: noProgress }),
  json: ({ sink, redact, clock }) => ({
    log: createJsonLog({ write: (text) => sink.write(redact(text)), clock }),
    progress: noProgress,
  }),
  pretty: (options) => (options.terminal.isLive ? liveParts(options) : steadyParts(options)),
};

function liveParts({ sink, terminal, redact, clock }: ReportingOptions): Parts {
  const { style, columns } = terminal;
  const line = createLiveLine((text) => sink.write(redact(text)));
  return {
    log: createPrettyLog({ writeLine: (text) => line.printAbove(text), style, redact, columns }),
    progress: createLiveProgress({ line, clock, style, columns }),
  };
}

function steadyParts({ sink, terminal, redact, clock }: ReportingOptions): Parts {
  const log = createPrettyLog({
    writeLine: (text) => sink.write(redact(`${text}\n`)),
    style: terminal.style,
    redact,
    columns: terminal.columns,
  });
  return { log, progress: createSteadyProgress({ log, clock }) };
}

/** How many retries of a run are shown, so that a failing service does not flood the terminal. The summary counts them all. */
const RETRIES_SHOWN_MAX = 5;
/** A limit, because the message of an error can contain a whole web page. */
const MESSAGE_LINES_MAX = 6;

export interface PrettyLogOptions {
  writeLine(line: string): void;
  readonly style: Style;
  /** Replaces secrets. Applied before lines are wrapped, because a part of a secret would not be recognized. */
  readonly redact: Redactor;
  /** The width in cells; Infinity to never wrap. */
  columns(): number;
}

/** Creates a log for people. It leaves out routine entries, and writes each line separately. */
export function createPrettyLog(options: PrettyLogOptions): Log {
  let retriesSeen = 0;
  return {
    write: (entry) => {
      if (entry.routine === true) return;
      if (entry.event === 'tick') retriesSeen = 0;
      if (entry.event === 'retry' && ++retriesSeen > RETRIES_SHOWN_MAX) return;
      for (const line of linesOf(entry, options)) options.writeLine(line);
      if (entry.event === 'retry' && retriesSeen === RETRIES_SHOWN_MAX) {
        options.writeLine(options.style.dim('further retries are only counted'));
      }
    },
  };
}

function linesOf({ level, message, hint }: LogEntry, { style, redact, columns }: PrettyLogOptions): string[] {
  const wrap = (lead: string, text: string) =>
    wrapText(escapeForTerminal(redact(text)), { width: columns(), lead, linesMax: MESSAGE_LINES_MAX });
  const hints = hint === undefined ? [] : wrap('  hint: ', hint).map(style.dim);
  if (level === 'info') return [...wrap('', message), ...hints];
  const mark = level === 'warn' ? 'warning: ' : 'error: ';
  const paint = level === 'warn' ? style.yellow : style.red;
  const [first = '', ...rest] = wrap(mark, message);
  return [paint(mark.trimEnd()) + first.slice(mark.length - 1), ...rest, ...hints];
}
