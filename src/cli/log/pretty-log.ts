import { escapeForTerminal } from '../text/escape.ts';
import type { Style } from '../text/style.ts';
import type { Log, LogEntry } from './log.ts';

/** Different retries shown; the others are counted in the summary. A service in trouble must not flood the terminal. */
const RETRIES_SHOWN_MAX = 5;

/** A log for people: warnings and errors with their hints, and what is not routine. Each line is handed over alone. */
export function createPrettyLog(options: { writeLine(line: string): void; style: Style }): Log {
  let retriesSeen = 0;
  return {
    write: (entry) => {
      if (entry.routine === true) return;
      if (entry.event === 'retry' && ++retriesSeen > RETRIES_SHOWN_MAX) return;
      for (const line of linesOf(entry, options.style)) options.writeLine(line);
      if (entry.event === 'retry' && retriesSeen === RETRIES_SHOWN_MAX) {
        options.writeLine(options.style.dim('further retries are only counted'));
      }
    },
  };
}

function linesOf({ level, message, hint }: LogEntry, style: Style): string[] {
  const text = escapeForTerminal(message);
  const hints = hint === undefined ? [] : [style.dim(`  hint: ${escapeForTerminal(hint)}`)];
  if (level === 'info') return [text, ...hints];
  const mark = level === 'warn' ? style.yellow('warning:') : style.red('error:');
  return [`${mark} ${text}`, ...hints];
}
