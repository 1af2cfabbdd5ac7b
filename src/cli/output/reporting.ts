import type { Clock } from '../../core/clock.ts';
import { RULES } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { describeContract } from '../../expected/index.ts';
import type { RunEvent, RunReport } from '../../pipeline/index.ts';
import type { LogFormat, Redactor } from '../../settings/index.ts';
import { dateOf, type UnitName, unitName } from '../../units/index.ts';
import { hintOf, withHints } from '../remedies.ts';
import { counted, formatDuration } from '../screens/numbers.ts';
import { escapeForTerminal, wrapText } from '../screens/text.ts';
import { describeCopyEvent, describeServeEvent, describeWait } from './event-words.ts';
import {
  createJsonLog,
  type EventWords,
  type Log,
  type LogEntry,
  publicLog,
  type ReportedEvent,
  silentLog,
} from './log.ts';
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

interface ReportingOptions {
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

interface PrettyLogOptions {
  writeLine(line: string): void;
  readonly style: Style;
  /** Replaces secrets. Applied before lines are wrapped, because a part of a secret would not be recognized. */
  readonly redact: Redactor;
  /** The width in cells; Infinity to never wrap. */
  columns(): number;
}

/** Creates a log for people. It leaves out routine entries, and writes each line separately. */
function createPrettyLog(options: PrettyLogOptions): Log {
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

/** Turns an event of a job into a log entry. */
export function describeEvent(event: ReportedEvent): LogEntry {
  const translated = withHint(event);
  return { event: translated.type, fields: fieldsOf(translated), ...wordsOf(translated) };
}

/** Replaces the reason code of an event by the hint of the command line. */
function withHint(event: ReportedEvent): ReportedEvent {
  if (event.type === 'run-ended') return { ...event, report: withHints(event.report) };
  if (!isAdvised(event)) return event;
  const { reason, facts, ...rest } = event;
  return { ...rest, hint: hintOf(event) };
}

const ADVISED = ['warning', 'unit-failed', 'organization-left-out', 'round-failed', 'serve-failed'] as const;

function isAdvised(
  event: ReportedEvent,
): event is Extract<ReportedEvent, { type: (typeof ADVISED)[number] }> {
  return ADVISED.some((type) => type === event.type);
}

/** The fields for machines. Every unit has a day, which is empty for readiness. */
function fieldsOf(event: ReportedEvent): Readonly<Record<string, unknown>> {
  const { type, ...fields } = event;
  switch (event.type) {
    case 'unit-done':
    case 'unit-elsewhere':
    case 'unit-failed':
    case 'unit-doubted':
      return { stream: event.stream, day: dateOf(event), ...fields };
    default:
      return fields;
  }
}

function wordsOf(event: ReportedEvent): EventWords {
  switch (event.type) {
    case 'run-started':
      return { level: 'info', message: startOf(event) };
    case 'planned':
      return { level: 'info', message: planOf(event) };
    case 'unit-done':
      return unitWords(event);
    case 'unit-elsewhere':
      return { ...unitWords(event), message: `${unitName(event)} is ${event.state}, by another worker` };
    case 'unit-failed':
      return {
        level: event.state === 'failed' ? 'error' : 'warn',
        message: failureOf(event),
        hint: event.hint,
      };
    case 'unit-doubted':
      return { level: 'warn', message: doubtOf(event), hint: DOUBT_HINT };
    case 'looks-again':
      return {
        level: 'info',
        message: `${event.stream} ${event.days.join(', ')} is requested again: ${RULES[event.rule]}`,
        routine: true,
      };
    case 'days-reopened':
      return {
        level: 'info',
        message: `${counted(event.days.length, 'settled day')} changed at the service; they are pulled again`,
      };
    case 'readiness-page':
      return {
        level: 'info',
        message: `${counted(event.reports, 'readiness report')} stored`,
        routine: true,
      };
    case 'retry':
      return { level: 'warn', message: retryOf(event) };
    case 'wait-began':
    case 'wait-ended':
      return describeWait(event);
    case 'warning':
      return { level: 'warn', message: event.message, hint: event.hint, fields: {} };
    case 'run-ended':
      return {
        level: event.report.exitCode === EXIT.ok ? 'info' : 'error',
        message: endOf(event.report),
        fields: { ...event.report },
        routine: true,
      };
    case 'contract-changed':
      return { level: 'info', message: changeOf(event) };
    case 'organization-left-out':
      return {
        level: 'error',
        message: `${event.organization} is not exported: ${event.message}`,
        hint: event.hint,
      };
    case 'serving':
    case 'schedule-waits':
    case 'tick':
    case 'round-ended':
    case 'round-failed':
    case 'serve-failed':
      return describeServeEvent(event);
    default:
      return describeCopyEvent(event);
  }
}

function unitWords(event: UnitName & { readonly state: string }): EventWords {
  return { level: 'info', message: `${unitName(event)} is ${event.state}`, routine: true };
}

function changeOf({ orgId, contract, changedFrom }: Extract<RunEvent, { type: 'contract-changed' }>): string {
  return `from now on, ${describeContract(contract)} is expected of ${orgId}; before, ${describeContract(changedFrom)}`;
}

function startOf({ command, organization, warehouse }: Extract<RunEvent, { type: 'run-started' }>): string {
  return `${command}${organization === undefined ? '' : ` ${organization}`} into ${warehouse}`;
}

// Most error messages name the request already.
function retryOf({ target, attempt, waitMs, error }: Extract<RunEvent, { type: 'retry' }>): string {
  const what = error.startsWith(target) || target === 'request' ? error : `${target}: ${error}`;
  return `${what} (attempt ${attempt}); retrying in ${formatDuration(waitMs)}`;
}

function planOf({ units, firstDay, lastDay }: Extract<RunEvent, { type: 'planned' }>): string {
  return `${counted(units, 'unit')} to pull, ${firstDay} to ${lastDay}`;
}

function failureOf(event: Extract<RunEvent, { type: 'unit-failed' }>): string {
  const what = event.state === 'failed' ? 'failed' : 'is not available yet';
  return `${unitName(event)} ${what}: ${event.error}`;
}

const DOUBT_HINT =
  'the stored rows are kept. If they are gone for good, run again with --accept-loss, or wait three days';

function doubtOf(event: Extract<RunEvent, { type: 'unit-doubted' }>): string {
  const { rule, rows, of, since } = event;
  return `${unitName(event)} has been doubted since ${since}: ${RULES[rule]} (${rows} of ${of} rows)`;
}

function endOf(report: RunReport): string {
  const whose = report.organization === undefined ? '' : ` of ${report.organization}`;
  return `${report.command}${whose} ended with exit code ${report.exitCode} after ${formatDuration(report.durationMs)}`;
}
