import { styleText } from 'node:util';

const COLOURS = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'magenta'] as const;

/** Adds a colour or weight to a text. */
export type Paint = (text: string) => string;

/** The colours and weights in use. A screen must be understandable without them. */
export type Style = Readonly<Record<(typeof COLOURS)[number], Paint>>;

const unchanged: Paint = (text) => text;

/** Creates the style of an output. Without `color`, no function changes its text. */
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
