import { adviceOf, messageOf, UsageError } from '../../core/errors.ts';
import { type NumberBounds, wholeNumber } from '../../settings/parsers/number.ts';

/** The flags of one command line. */
export interface Flags {
  /** True when a flag without a value is given. */
  isOn(flag: `--${string}`): boolean;
  /** The value of a flag; undefined when it is not given. */
  text(flag: `--${string}`): string | undefined;
  /** All values of a flag that accepts several: `--event <name...>`. */
  texts(flag: `--${string}`): readonly string[];
  /**
   * The parsed value of a flag; undefined when it is not given.
   * @throws {UsageError} that names the flag.
   */
  parse<Value>(flag: `--${string}`, parser: (text: string) => Value): Value | undefined;
  /**
   * The value of a flag as a whole number within bounds; undefined when it is not given.
   * @throws {UsageError} that names the flag.
   */
  number(flag: `--${string}`, bounds: NumberBounds): number | undefined;
}

/** Wraps the values that the parser returned, by flag. */
export function createFlags(values: Readonly<Record<string, unknown>>): Flags {
  const text = (flag: string) => {
    const value = values[flag];
    return typeof value === 'string' ? value : undefined;
  };
  const parse = <Value>(flag: string, parser: (text: string) => Value) => {
    const value = text(flag);
    return value === undefined ? undefined : parseNamed(flag, value, parser);
  };
  return {
    isOn: (flag) => values[flag] === true,
    text,
    texts: (flag) => textsOf(values[flag]),
    parse,
    number: (flag, bounds) => parse(flag, wholeNumber(bounds)),
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function parseNamed<Value>(flag: string, text: string, parser: (text: string) => Value): Value {
  try {
    return parser(text);
  } catch (error) {
    throw new UsageError(`${flag}: ${messageOf(error)}`, { cause: error, ...adviceOf(error) });
  }
}
