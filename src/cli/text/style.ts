import { styleText } from 'node:util';

const COLOURS = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'magenta'] as const;

/** A way to mark text on a terminal. */
export type Paint = (text: string) => string;

/** The marks in use. Whatever they say must be readable without them too. */
export type Style = Readonly<Record<(typeof COLOURS)[number], Paint>>;

const unchanged: Paint = (text) => text;

/** Marks for an output; none of them does anything unless `color` is true. */
export function createStyle(color: boolean): Style {
  const paint = (name: (typeof COLOURS)[number]): Paint =>
    color ? (text) => (text === '' ? '' : styleText(name, text, { validateStream: false })) : unchanged;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
    magenta: paint('magenta'),
  };
}
