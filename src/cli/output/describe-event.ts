import type { CopyEvent } from '../../copy/events.ts';
import { RULES } from '../../core/errors.ts';
import { describeExitCode, EXIT } from '../../core/exit-code.ts';
import type { RunEvent, RunReport } from '../../pipeline/events.ts';
import type { ServeEvent } from '../../serve/service-state.ts';
import { dateOf, unitName } from '../../units/unit.ts';
import { hintOf, withHints } from '../remedies.ts';
import { counted, formatDuration } from '../screens/numbers.ts';
import type { EventWords, LogEntry, ReportedEvent } from './log.ts';

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
      return { level: 'info', message: `${unitName(event)} is ${event.state}`, routine: true };
    case 'unit-elsewhere':
      return {
        level: 'info',
        message: `${unitName(event)} is ${event.state}, by another worker`,
        routine: true,
      };
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
      return {
        level: 'warn',
        message: retryOf(event),
      };
    case 'warning':
      return { level: 'warn', message: event.message, hint: event.hint, fields: {} };
    case 'run-ended':
      return {
        level: event.report.exitCode === EXIT.ok ? 'info' : 'error',
        message: endOf(event.report),
        fields: { ...event.report },
        routine: true,
      };
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

/** Turns an event of a copy into words. */
export function describeCopyEvent(event: Exclude<CopyEvent, { type: 'warning' }>): EventWords {
  switch (event.type) {
    case 'copy-started':
      return { level: 'info', message: `copying ${event.from} to ${event.to}` };
    case 'copy-planned':
      return {
        level: 'info',
        message: `${counted(event.units, 'unit')} to copy, ${counted(event.unchanged, 'unit')} unchanged`,
      };
    case 'copy-replaces':
      return { level: 'warn', message: `${event.to} loses data that only it holds: ${event.lost}` };
    case 'copied':
      return { level: 'info', message: copiedOf(event), routine: true };
    case 'copy-comparing':
      return { level: 'info', message: `comparing ${event.table}`, routine: true };
    case 'copy-ended': {
      const { exitCode, durationMs } = event.report;
      const level = exitCode === EXIT.ok ? 'info' : 'error';
      const message = `copy ended with exit code ${exitCode} after ${formatDuration(durationMs)}`;
      return { level, message, fields: { ...event.report }, routine: true };
    }
  }
}

function copiedOf({ what, firstDay, lastDay, rowsWritten }: Extract<CopyEvent, { type: 'copied' }>): string {
  const days = firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`;
  return `${`${what} ${days}`.trim()}: ${counted(rowsWritten, 'row')} written`;
}

/** A round that begins later than this was missed at its time. */
const LATE_MS = 3_600_000;

/** Turns an event of the service into words. */
export function describeServeEvent(event: ServeEvent): EventWords {
  switch (event.type) {
    case 'serving':
      return { level: 'info', message: `serving on ${event.url}, schedule ${event.schedule} (UTC)` };
    case 'schedule-waits':
      return { level: 'info', message: `next run at ${minuteOf(event.nextRunAt)}` };
    case 'tick':
      return { level: 'info', message: tickOf(event) };
    case 'round-ended': {
      const { exitCode, durationMs } = event;
      return {
        level: exitCode === EXIT.ok ? 'info' : 'error',
        message: `ended with exit code ${exitCode} after ${formatDuration(durationMs)}: ${describeExitCode(exitCode)}`,
      };
    }
    case 'round-failed':
      return { level: 'error', message: event.error, hint: event.hint };
    case 'serve-failed':
      return { level: 'error', message: `${event.doing}: ${event.error}`, hint: event.hint };
  }
}

function tickOf({ tickAt, lateMs }: Extract<ServeEvent, { type: 'tick' }>): string {
  if (tickAt === null) return 'first run';
  const late = lateMs < LATE_MS ? '' : `, ${formatDuration(lateMs)} late`;
  return `run of ${minuteOf(tickAt)}${late}`;
}

/** An instant as people read it: `2026-03-01 03:00 UTC`. */
function minuteOf(instant: string): string {
  return `${instant.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC`;
}
