import type { Clock } from '../../core/clock.ts';
import type { Redactor } from '../../settings/redact.ts';
import type { LogFormat } from '../../settings/settings.ts';
import { describeEvent } from '../log/describe-event.ts';
import { createJsonLog } from '../log/json-log.ts';
import { type Log, silentLog } from '../log/log.ts';
import { createPrettyLog } from '../log/pretty-log.ts';
import { publicLog } from '../log/public-log.ts';
import { createLiveLine } from '../progress/live-line.ts';
import { createLiveProgress, createSteadyProgress, noProgress, type Progress } from '../progress/progress.ts';
import type { ReportedEvent } from './reported-event.ts';
import type { Sink } from './sink.ts';
import type { Terminal } from './terminal.ts';

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
