import { type Node, parseTree } from 'jsonc-parser';
import { canonicalJson, isExact, isObject, parseJson } from './json.ts';

/** How many ends of lists are tried from the end of a text. What follows the rows of an answer is small. */
const ENDS_MAX = 8;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * The texts of the elements of a list in a JSON object, each exactly as it is written: `{"data":[1.0, {"a" : 2}]}` has the
 * elements `1.0` and `{"a" : 2}`. Empty if there is no such list. Of several members with that name, the last one counts, as
 * in `JSON.parse`. Takes a fraction of the time of parsing, and works at any depth.
 * @param text valid JSON
 */
export function elementTexts(text: string, name: string): string[] {
  let found: string[] = [];
  let at = text.indexOf('{') + 1;
  while (at > 0 && at < text.length) {
    const start = text.indexOf('"', at);
    if (start < 0) break;
    const end = afterString(text, start);
    const valueAt = skipSpace(text, text.indexOf(':', end) + 1);
    if (JSON.parse(text.slice(start, end)) === name) {
      const list = listAt(text, valueAt);
      found = list.elements;
      at = list.end;
    } else at = afterValue(text, valueAt);
    at = skipSpace(text, at);
    if (text.charCodeAt(at) !== COMMA) break;
    at += 1;
  }
  return found;
}

/**
 * The text between the brackets of a list in a JSON object: `{"data":[1.0, 2]}` has `1.0, 2`. Takes next to no time, however
 * long the list is, because it looks from both ends. Undefined if that does not show where the list ends, or if there is no
 * such list; {@link elementTexts} finds out then. Between the brackets of `{"data":[…]}`, the text is parsed to the same list,
 * also if names of members occur twice.
 * @param parsed what `JSON.parse` makes of the text
 */
export function listText(text: string, name: string, parsed: unknown): string | undefined {
  const start = listStart(text, name);
  const list = isObject(parsed) ? parsed[name] : undefined;
  if (start === undefined || !isObject(parsed) || !Array.isArray(list)) return undefined;
  if (list.length === 0) return '';
  const members = Object.keys(parsed).length;
  let end = text.lastIndexOf(']');
  for (let tries = 0; tries < ENDS_MAX && end >= start; tries += 1) {
    // Brackets and quotes are balanced. So what is left without the elements is JSON only if this bracket ends a list of the
    // object: this list, or one after it. If it were one after it, members would be missing.
    const rest = parseJson(text.slice(0, start) + text.slice(end));
    if (isObject(rest) && Object.keys(rest).length === members && isEmptyList(rest[name]))
      return text.slice(start, end);
    end = text.lastIndexOf(']', end - 1);
  }
  return undefined;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The position after the bracket that begins the first list of that name; undefined if there is none. */
function listStart(text: string, name: string): number | undefined {
  for (const [member, at] of members(text)) {
    if (member === name) return text.charCodeAt(at) === OPEN_LIST ? at + 1 : undefined;
  }
  return undefined;
}

/**
 * The members of a JSON object, each with its value exactly as it is written. Of several members with one name, the last one
 * counts.
 * @param text valid JSON
 */
export function memberTexts(text: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [name, at] of members(text)) texts.set(name, text.slice(at, afterValue(text, at)));
  return texts;
}

/**
 * The names of the members of an object, and the positions of their values.
 * @param from where its members begin, or one of them. @default those of the first object
 */
export function* members(
  text: string,
  from: number = text.indexOf('{') + 1,
): Generator<[name: string, valueAt: number], void, void> {
  let at = from;
  while (at > 0 && at < text.length) {
    const start = skipSpace(text, at);
    // An empty object has no name.
    if (text.charCodeAt(start) !== QUOTE) return;
    const end = afterString(text, start);
    const valueAt = skipSpace(text, text.indexOf(':', end) + 1);
    yield [String(JSON.parse(text.slice(start, end))), valueAt];
    at = skipSpace(text, afterValue(text, valueAt));
    if (text.charCodeAt(at) !== COMMA) return;
    at += 1;
  }
}

function listAt(text: string, at: number): { elements: string[]; end: number } {
  if (text.charCodeAt(at) !== OPEN_LIST) return { elements: [], end: afterValue(text, at) };
  const elements: string[] = [];
  for (let start = skipSpace(text, at + 1); text.charCodeAt(start) !== CLOSE_LIST; ) {
    const end = afterValue(text, start);
    elements.push(text.slice(start, end));
    const next = skipSpace(text, end);
    if (text.charCodeAt(next) !== COMMA) return { elements, end: next + 1 };
    start = skipSpace(text, next + 1);
  }
  return { elements, end: skipSpace(text, at + 1) + 1 };
}

/** The position after the value that begins at `at`. */
export function afterValue(text: string, at: number): number {
  let depth = 0;
  for (let index = at; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = afterString(text, index) - 1;
      if (depth === 0) return index + 1;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1;
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      if (depth === 0) return index;
      depth -= 1;
      if (depth === 0) return index + 1;
    } else if (depth === 0 && (code === COMMA || code === COLON || code <= 32)) return index;
  }
  return text.length;
}

/** The position after the string that begins at the quote. */
export function afterString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
  return text.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 32) at += 1;
  return at;
}

/** Digits that are written out; a greater power of ten is written as an exponent. */
const PLAIN_DIGITS_MAX = 40;

/**
 * Rewrites a JSON text canonically: keys in code-unit order, no white space, one form per number. Numbers that a
 * double cannot represent keep their digits. Equal values have equal texts, so a database may store the value in its own
 * form, as PostgreSQL's `jsonb` does, without changing the digest.
 * @throws {RangeError} if the value is nested deeper than the stack allows
 */
export function canonicalText(text: string): string {
  const value: unknown = JSON.parse(text);
  if (isExact(value)) return canonicalJson(value);
  const root = parseTree(text);
  return root === undefined ? canonicalJson(value) : canonicalNode(root, text);
}

function canonicalNode(node: Node, text: string): string {
  const { type, children = [] } = node;
  if (type === 'array') return `[${children.map((child) => canonicalNode(child, text)).join(',')}]`;
  if (type === 'number') return canonicalNumber(text.slice(node.offset, node.offset + node.length));
  if (type !== 'object') return JSON.stringify(node.value);
  // The last of several equal names wins, as in JSON.parse.
  const members = new Map<string, Node>();
  for (const { children: [name, value] = [] } of children) {
    if (value !== undefined) members.set(String(name?.value), value);
  }
  const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${canonicalNode(value, text)}`).join(',')}}`;
}

/** A number as `JSON.stringify` writes it where a double holds it, otherwise with all its digits. */
function canonicalNumber(text: string): string {
  const value = Number(text);
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return JSON.stringify(value);
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  const exponent = Number(power) - fraction.length + digits.length - significant.length;
  return sign + withExponent(significant, exponent);
}

function withExponent(digits: string, exponent: number): string {
  if (exponent >= 0) {
    return digits.length + exponent <= PLAIN_DIGITS_MAX
      ? digits + '0'.repeat(exponent)
      : `${digits}e${exponent}`;
  }
  const point = digits.length + exponent;
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}
