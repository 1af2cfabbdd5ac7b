import { EXIT } from '../../core/exit-code.ts';
import { describeExitCode } from '../../core/exit-meaning.ts';
import type { ServeEvent } from '../../serve/service-state.ts';
import { formatDuration } from '../text/quantity.ts';
import type { EventWords } from './log.ts';

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
