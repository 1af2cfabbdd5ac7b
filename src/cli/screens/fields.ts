import { escapeForTerminal } from '../text/escape.ts';
import { formatNumber } from '../text/quantity.ts';
import type { Paint } from '../text/style.ts';
import type { TableFrame } from '../text/table.ts';
import { padTo, truncateTo, widthOf } from '../text/width.ts';

/** A name and its value. Text is escaped, numbers are grouped. */
export type Field = readonly [name: string, value: string | number, paint?: Paint];

/** Draws names and values, one pair per line. */
export function renderFields(fields: readonly Field[], { width, style, indent = 2 }: TableFrame): string[] {
  const nameWidth = Math.max(...fields.map(([name]) => widthOf(name)));
  return fields.map(([name, value, paint]) => {
    const text = typeof value === 'number' ? formatNumber(value) : escapeForTerminal(value);
    const room = Math.max(1, width - indent - nameWidth - 2);
    const shown = truncateTo(text, room);
    return `${' '.repeat(indent)}${style.dim(padTo(name, nameWidth))}  ${paint === undefined ? shown : paint(shown)}`;
  });
}
