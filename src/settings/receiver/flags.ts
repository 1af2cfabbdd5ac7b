import { NOTIFY_SETTINGS, SPOOL_SETTING } from './hook-settings.ts';

const NAMES: readonly string[] = [
  '--warehouse',
  ...[SPOOL_SETTING, ...Object.values(NOTIFY_SETTINGS)].flatMap(({ flag }) => (flag === null ? [] : [flag])),
];

/** The receiver's flags on a command line, and the words that are not flags. */
export interface ReceiverFlags {
  readonly flags: Readonly<Record<string, string>>;
  readonly ignored: readonly string[];
}

/**
 * Reads the flags of the receiver. It never refuses a command line, because a wrong flag must not lose the event.
 */
export function readFlags(argv: readonly string[]): ReceiverFlags {
  const flags: Record<string, string> = {};
  const ignored: string[] = [];
  const words = [...argv];
  while (words.length > 0) {
    const word = words.shift() ?? '';
    const equals = word.indexOf('=');
    const name = equals === -1 ? word : word.slice(0, equals);
    const value = NAMES.includes(name) ? (equals === -1 ? words.shift() : word.slice(equals + 1)) : undefined;
    if (value === undefined) ignored.push(name);
    else flags[name] = value;
  }
  return { flags, ignored };
}
