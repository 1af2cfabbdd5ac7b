import type { ScreenFrame } from '../output/output.ts';
import { escapeForTerminal } from '../text/escape.ts';
import { wrapText } from '../text/wrap.ts';

const LINES_MAX = 6;

/** Draws warnings below a result, one sentence each. */
export function renderWarnings(warnings: readonly string[], frame: ScreenFrame): string[] {
  return warnings.flatMap((warning) => {
    const text = escapeForTerminal(frame.redact(warning));
    const lines = frame.isTerminal
      ? wrapText(text, { width: frame.width, lead: '', linesMax: LINES_MAX })
      : [text];
    return ['', ...lines.map(frame.style.yellow)];
  });
}
