import type { ScreenFrame } from '../output/output.ts';
import { escapeForTerminal } from '../text/escape.ts';

/** The lines of a CSV text for standard output: as they are, but safe to look at on a terminal. */
export function csvLines(csv: string, { isTerminal }: Pick<ScreenFrame, 'isTerminal'>): string[] {
  const text = csv.replace(/\n$/, '');
  return isTerminal ? text.split('\n').map(escapeForTerminal) : [text];
}
