import { messageOf, UsageError } from '../../core/errors.ts';
import { type NumberBounds, wholeNumber } from '../../settings/parsers/number.ts';

/** The flags of one command line. */
export interface Flags {
  /** True when a flag without a value was given. */
  isOn(flag: `--${string}`): boolean;
  /** The value of a flag; undefined when it was not given. */
  text(flag: `--${string}`): string | undefined;
  /** Every value of a flag that may be given several times, or several values: `--event <name...>`. */
  texts(flag: `--${string}`): readonly string[];
  /**
   * The value of a flag through a parser; undefined when it was not given.
   * @throws {UsageError} that names the flag.
   */
  parse<Value>(flag: `--${string}`, parser: (text: string) => Value): Value | undefined;
  /**
   * A whole number within bounds; undefined when the flag was not given.
   * @throws {UsageError} that names the flag.
   */
  number(flag: `--${string}`, bounds: NumberBounds): number | undefined;
}

/** Flags from values by flag, as the command line parser found them. */
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
    const hint = error instanceof UsageError ? error.hint : undefined;
    throw new UsageError(`${flag}: ${messageOf(error)}`, { cause: error, hint });
  }
}
