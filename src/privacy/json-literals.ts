import { parseJson } from '../core/json.ts';
import { afterString, members } from '../core/json-text.ts';

const QUOTE = 34;
const COLON = 58;

/** What the structure of JSON consists of. Numbers, true, false and null end with what comes after them. */
const MARK = /["{}[\]:,]/g;

/** A text in JSON: its place, what it says, and where it belongs. */
export interface Literal {
  readonly start: number;
  readonly end: number;
  readonly value: string;
  /** The field that it, or the list with it, is the value of; undefined for names of fields. */
  readonly field: string | undefined;
  /** The innermost object around it, and the objects around that one; the outermost value has none. */
  readonly object: ObjectScope | undefined;
}

export class ObjectScope {
  readonly parent: ObjectScope | undefined;
  /** The field of which it is the value, or an element. */
  readonly field: string | undefined;
  isOwn = false;

  constructor(parent: ObjectScope | undefined, field: string | undefined) {
    this.parent = parent;
    this.field = field;
  }
}

/** Every text of a JSON text, in order. Does not recurse, so that no depth is too much. */
export function literalsOf(json: string): Literal[] {
  const literals: Literal[] = [];
  // A list has the object around it, but is no object: its texts are no names of fields.
  const stack: { scope: ObjectScope | undefined; isObject: boolean; list: string | undefined }[] = [];
  let name = '';
  let isValue = false;
  MARK.lastIndex = 0;
  for (let mark = MARK.exec(json); mark !== null; mark = MARK.exec(json)) {
    const [sign] = mark;
    const top = stack.at(-1);
    if (sign === '{') {
      const field = top?.isObject === true ? name : top?.list;
      stack.push({ scope: new ObjectScope(top?.scope, field), isObject: true, list: undefined });
    } else if (sign === '[') {
      const list = top?.isObject === true ? name : top?.list;
      stack.push({ scope: top?.scope, isObject: false, list });
    } else if (sign === '}' || sign === ']') stack.pop();
    else if (sign === '"') {
      const end = afterString(json, mark.index);
      const value = String(JSON.parse(json.slice(mark.index, end)));
      const field = top?.isObject === true ? (isValue ? name : undefined) : top?.list;
      literals.push({ start: mark.index, end, value, field, object: top?.scope });
      name = value;
      MARK.lastIndex = end;
    }
    isValue = sign === ':';
  }
  return literals;
}

/** A text in JSON, found without reading what stands before it. */
export interface FoundLiteral {
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

/**
 * The text of a JSON text in which a position lies; undefined if none begins before it. It looks from the position only, so a search
 * for a few texts does not read all others.
 */
export function literalAt(json: string, position: number): FoundLiteral | undefined {
  const start = openingQuote(json, position);
  if (start < 0) return undefined;
  const end = afterString(json, start);
  return end > position ? { start, end, value: said(json, start, end) } : undefined;
}

function said(json: string, start: number, end: number): string {
  const text = json.slice(start + 1, end - 1);
  return text.includes('\\') ? String(JSON.parse(json.slice(start, end))) : text;
}

/** The last quote up to a position without a backslash before it: inside a text, the one that opens it. */
function openingQuote(json: string, position: number): number {
  let quote = json.lastIndexOf('"', position);
  while (json[quote - 1] === '\\') quote = json.lastIndexOf('"', quote - 1);
  return quote;
}

/** The field whose value is the text that starts at a position; undefined for an element of a list, and for a name. */
export function fieldBefore(json: string, start: number): string | undefined {
  const colon = lastInk(json, start - 1);
  if (json[colon] !== ':') return undefined;
  const quote = lastInk(json, colon - 1);
  const from = openingQuote(json, quote - 1);
  return from < 0 ? undefined : said(json, from, quote + 1);
}

/** The last position up to another one that is no white space. */
function lastInk(json: string, from: number): number {
  let at = from;
  while (json.charCodeAt(at) <= 32) at -= 1;
  return at;
}

const VALUE_FOLLOWS = /[\t\n\r ]*:[\t\n\r ]*(?=")/y;

/** Where the value of a name begins, if it is a text; undefined for any other text. */
export function valueAfter(json: string, end: number): number | undefined {
  if (json.charCodeAt(end) === COLON && json.charCodeAt(end + 1) === QUOTE) return end + 1;
  VALUE_FOLLOWS.lastIndex = end;
  return VALUE_FOLLOWS.test(json) ? VALUE_FOLLOWS.lastIndex : undefined;
}

/**
 * Where the cursors of the next page begin, `meta.next_cursor`: one, unless names occur twice. To read all texts of the rows before
 * it would take three times as long as the rest of the gate.
 */
export function cursorsIn(json: string): ReadonlySet<number> {
  const last = json.lastIndexOf('"meta"');
  // The rest of a JSON text is JSON after a bracket only if it begins with a member of the outermost object.
  const isOutermost = last >= 0 && parseJson(`{${json.slice(last)}`) !== undefined;
  const cursors = new Set<number>();
  for (const [name, at] of members(json, isOutermost ? last : undefined)) {
    if (name !== 'meta' || json[at] !== '{') continue;
    for (const [field, start] of members(json, at + 1)) if (field === 'next_cursor') cursors.add(start);
  }
  return cursors;
}

/** True for the cursor of the next page. */
export function isCursor({ field, object }: Literal): boolean {
  return field === 'next_cursor' && object?.field === 'meta' && object.parent?.parent === undefined;
}

const ESCAPE = /(?<!\\)((?:\\\\)*)\\u00([2-7][0-9a-f])/gi;

/** The same JSON, in which no character of ASCII is escaped that need not be: an escape would hide the name of a field, or an ID. */
export function withoutEscapes(json: string): string {
  if (!json.includes('\\u00')) return json;
  return json.replace(ESCAPE, (whole, before: string, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return /["\\\x7f]/.test(character) ? whole : before + character;
  });
}

/** The day of an object. */
const DAY_FIELD = /"date"\s*:\s*"(\d{4}-\d{2}-\d{2})"/g;
/** What opens and closes objects, and texts that may look as if they did. */
const OBJECT_MARK = /["{}]/g;

/** A JSON text in which objects of some days are replaced: those with the day in their field `date`. */
export function replaceDays(
  json: string,
  isMeant: (day: string) => boolean,
  replaced: (object: string) => string,
): string {
  const plain = withoutEscapes(json);
  // Most answers are of other days, and need no look at their structure.
  const days = new Set<number>();
  for (const { 1: day = '', index } of plain.matchAll(DAY_FIELD)) if (isMeant(day)) days.add(index);
  if (days.size === 0) return json;
  const parts: { readonly start: number; readonly end: number }[] = [];
  const open: { readonly start: number; isMeant: boolean }[] = [];
  OBJECT_MARK.lastIndex = 0;
  for (let mark = OBJECT_MARK.exec(plain); mark !== null; mark = OBJECT_MARK.exec(plain)) {
    const { 0: sign, index } = mark;
    const top = open.at(-1);
    if (sign === '{') open.push({ start: index, isMeant: false });
    else if (sign === '"') {
      if (top !== undefined && days.has(index)) top.isMeant = true;
      OBJECT_MARK.lastIndex = afterString(plain, index);
    } else if (open.pop()?.isMeant === true && top !== undefined) {
      // What is inside goes with it.
      while ((parts.at(-1)?.start ?? -1) > top.start) parts.pop();
      parts.push({ start: top.start, end: index + 1 });
    }
  }
  let done = '';
  let from = 0;
  for (const { start, end } of parts) {
    done += plain.slice(from, start) + replaced(plain.slice(start, end));
    from = end;
  }
  return done + plain.slice(from);
}
