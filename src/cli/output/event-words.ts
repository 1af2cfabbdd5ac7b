import type { CopyEvent } from '../../copy/index.ts';
import { describeExitCode, EXIT } from '../../core/exit-code.ts';
import type { RunEvent } from '../../pipeline/index.ts';
import type { ServeEvent } from '../../serve/index.ts';
import { counted, formatDuration } from '../screens/numbers.ts';
import type { EventWords } from './log.ts';

const WAIT_HINT = 'the run goes on when it answers; to end it, stop the program: what is stored is safe';

/** Turns the begin and the end of a wait for the service into words. */
export function describeWait(event: Extract<RunEvent, { type: 'wait-began' | 'wait-ended' }>): EventWords {
  if (event.type === 'wait-began') return { level: 'warn', message: waitOf(event), hint: WAIT_HINT };
  return { level: event.end === 'over' ? 'error' : 'info', message: endOfWait(event) };
}

function waitOf({ host, since, until }: Extract<RunEvent, { type: 'wait-began' }>): string {
  return `waiting for the service since ${secondOf(since)}, until ${secondOf(until)} at most: ${host} does not answer`;
}

function endOfWait({ host, since, end }: Extract<RunEvent, { type: 'wait-ended' }>): string {
  const happened = {
    answered: `${host} answers again, after a wait since ${secondOf(since)}`,
    over: `${host} has not answered since ${secondOf(since)}, and the patience of this run is over`,
    left: `the wait for ${host} since ${secondOf(since)} was ended`,
  };
  return happened[end];
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

/** An instant as people read it: `2026-03-01 03:00:12 UTC`. */
function secondOf(instant: string): string {
  return `${instant.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replace('T', ' ')} UTC`;
}

/** An instant as people read it: `2026-03-01 03:00 UTC`. */
function minuteOf(instant: string): string {
  return `${instant.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC`;
}
