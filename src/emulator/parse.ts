import { isDay, type UtcDay } from '../core/day.ts';
import { nearestName, UsageError } from '../core/errors.ts';

/**
 * Reads a JSON value from outside. `at` is its place, for example `rules[2].match.page`.
 * Throws `UsageError` that names the place, what is accepted there, and what was found.
 */
export type Parser<T> = (value: unknown, at: string) => T;

/** The type of what a parser returns. */
export type Parsed<P> = P extends Parser<infer T> ? T : never;

type Parsers = Readonly<Record<string, Parser<unknown>>>;
type Fields<Required extends Parsers, Optional extends Parsers> = Flat<
  { readonly [K in keyof Required]: Parsed<Required[K]> } & {
    readonly [K in keyof Optional]?: Parsed<Optional[K]>;
  }
>;
/** One object type instead of an intersection, which error messages and editors show better. */
type Flat<T> = { [K in keyof T]: T[K] };

const LIST_LENGTH_MAX = 10_000;

/** Refuses the value at `at`. */
export function refuse(at: string, expected: string, value: unknown): never {
  const found = JSON.stringify(value)?.slice(0, 80) ?? 'nothing';
  throw new UsageError(`${at}: ${found} is not accepted`, { hint: `${at} must be ${expected}` });
}

/** Levels of lists and objects in each other that are accepted. Many more would overflow the stack where they are written. */
export const DEPTH_MAX = 100;

function refuseName(at: string, name: string, known: readonly string[]): never {
  const near = nearestName(name, known);
  throw new UsageError(`${at}: there is no field of this name`, {
    hint: `${near === undefined ? '' : `did you mean ${near}? `}known here: ${known.join(', ')}`,
  });
}

/** True for an object that is not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** true or false. */
export const boolean: Parser<boolean> = (value, at) =>
  typeof value === 'boolean' ? value : refuse(at, 'true or false', value);

/** Any text. */
export const text: Parser<string> = (value, at) =>
  typeof value === 'string' ? value : refuse(at, 'a string', value);

/** A calendar day that exists. */
export const day: Parser<UtcDay> = (value, at) =>
  isDay(value) ? value : refuse(at, 'a calendar day written YYYY-MM-DD', value);

/** Any JSON value. */
export const anything: Parser<unknown> = (value, at) =>
  value === undefined ? refuse(at, 'present', value) : value;

/** A number from `min` to `max`. */
export function number(min: number, max: number): Parser<number> {
  return (value, at) =>
    typeof value === 'number' && value >= min && value <= max
      ? value
      : refuse(at, `a number from ${min} to ${max}`, value);
}

/** A whole number from `min` to `max`. */
export function integer(min: number, max = 1_000_000_000): Parser<number> {
  return (value, at) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? value
      : refuse(at, `a whole number from ${min} to ${max}`, value);
}

/** One of the given values. */
export function oneOf<const T extends string | number | boolean>(...choices: readonly T[]): Parser<T> {
  return (value, at) => {
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    const near = typeof value === 'string' ? nearestName(value, choices.map(String)) : undefined;
    const advice = near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
    return refuse(at, choices.map((choice) => JSON.stringify(choice)).join(' or ') + advice, value);
  };
}

/** A list of at most 10,000 elements. */
export function listOf<T>(element: Parser<T>): Parser<readonly T[]> {
  return (value, at) =>
    Array.isArray(value) && value.length <= LIST_LENGTH_MAX
      ? value.map((item: unknown, index) => element(item, `${at}[${index}]`))
      : refuse(at, 'a list', value);
}

/** An object with any keys. */
export function mapOf<T>(element: Parser<T>): Parser<Readonly<Record<string, T>>> {
  return (value, at) => {
    if (!isRecord(value)) return refuse(at, 'an object', value);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, element(item, `${at}.${key}`)]),
    );
  };
}

/** null, or what `parser` accepts. */
export function orNull<T>(parser: Parser<T>): Parser<T | null> {
  return (value, at) => (value === null ? null : parser(value, at));
}

/** What either parser accepts; `expected` describes both. */
export function either<A, B>(first: Parser<A>, second: Parser<B>, expected: string): Parser<A | B> {
  return (value, at) => {
    for (const parser of [first, second]) {
      try {
        return parser(value, at);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
      }
    }
    return refuse(at, expected, value);
  };
}

/** An object with all of the required keys, any of the optional ones, and no others. */
export function object<Required extends Parsers, Optional extends Parsers>(
  required: Required,
  optional: Optional,
): Parser<Fields<Required, Optional>> {
  const fields = Object.entries({ ...required, ...optional });
  const known = fields.map(([key]) => key);
  return (value, at) => {
    if (!isRecord(value)) return refuse(at, 'an object', value);
    const unknown = Object.keys(value).find((key) => !known.includes(key));
    if (unknown !== undefined) refuseName(`${at}.${unknown}`, unknown, known);
    const read = fields
      .filter(([key]) => key in required || value[key] !== undefined)
      .map(([key, parser]) => [key, parser(value[key], `${at}.${key}`)]);
    // The keys come from the two records of parsers, so the type follows from them.
    return Object.fromEntries(read) as Fields<Required, Optional>;
  };
}

type Tagged<Key extends string, Variants extends Parsers> = {
  [Tag in keyof Variants & string]: Flat<{ readonly [K in Key]: Tag } & Parsed<Variants[Tag]>>;
}[keyof Variants & string];

/** An object whose field `key` decides which parser reads its other fields. */
export function tagged<Key extends string, Variants extends Parsers>(
  key: Key,
  variants: Variants,
): Parser<Tagged<Key, Variants>> {
  const tags = Object.keys(variants);
  return (value, at) => {
    if (!isRecord(value)) return refuse(at, `an object with the field ${key}`, value);
    const { [key]: given, ...rest } = value;
    const tag = oneOf(...tags)(given, `${at}.${key}`);
    const parsed = variants[tag]?.(rest, at);
    // As in `object`: the tag and its parser decide the type.
    return { [key]: tag, ...(isRecord(parsed) ? parsed : {}) } as Tagged<Key, Variants>;
  };
}
