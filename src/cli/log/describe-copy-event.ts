import type { CopyEvent } from '../../copy/events.ts';
import { EXIT } from '../../core/exit-code.ts';
import { counted, formatDuration } from '../text/quantity.ts';
import type { EventWords } from './log.ts';

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
