import type { Redactor } from '../../settings/redact.ts';
import { escapeForTerminal } from '../text/escape.ts';
import type { Style } from '../text/style.ts';
import { wrapText } from '../text/wrap.ts';
import type { Log, LogEntry } from './log.ts';

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
