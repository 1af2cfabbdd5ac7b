import type { BiReport } from '../../../../jobs/bi.ts';
import { escapeForTerminal } from '../../text/escape.ts';
import { counted } from '../../text/quantity.ts';

/** Draws what was written, and what to do next. */
export function renderBi({ directory, files, written, unchanged, removed, next_steps }: BiReport): string[] {
  return [
    `${escapeForTerminal(directory)}: ${counted(files, 'file')}, ${written} written, ${unchanged} unchanged, ${removed} removed`,
    ...next_steps.map((step, index) => `${index + 1}. ${escapeForTerminal(step)}`),
  ];
}
