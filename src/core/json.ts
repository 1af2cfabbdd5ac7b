/** A JSON value that is an object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON text. Returns undefined for a text that is not JSON: no JSON value is undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The texts of a list; none if the value is no list. */
export function textsIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((text) => typeof text === 'string') : [];
}

/**
 * Writes a value as JSON with the keys of every object in code-unit order, so that equal values have equal texts.
 * @throws {RangeError} if the value is nested deeper than the stack allows
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(',')}}`;
}

/** Compares texts by code units: the order of keys in canonical JSON, the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Characters without an ink of their own, but for those that scripts and emoji need: joiners, variations, tags. */
const UNSEEN =
  /(?!\p{Join_Control}|\p{Variation_Selector}|[\u{e0020}-\u{e007f}])\p{Default_Ignorable_Code_Point}/gu;

/** A name as it is seen: accented letters are one character, and no character is unseen. */
export const seenName = (text: string): string => text.normalize().replace(UNSEEN, '').trim();

/** True when every number inside survived parsing: finite, and no integer beyond ±(2^53 − 1). */
export function isExact(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (Array.isArray(value)) return value.every(isExact);
  return !isObject(value) || Object.values(value).every(isExact);
}

/** True when every text inside, keys too, can be stored by every database: no NUL, no lone surrogate. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  if (Array.isArray(value)) return value.every(isStorable);
  if (!isObject(value)) return true;
  return Object.entries(value).every(([key, member]) => isStorable(key) && isStorable(member));
}

/** True when lists and objects are nested more than `levels` levels deep. Works at any depth. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  const left: [value: unknown, depth: number][] = [[value, 0]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [member, depth] = next;
    if (typeof member !== 'object' || member === null) continue;
    if (depth === levels) return true;
    for (const inner of Object.values(member)) left.push([inner, depth + 1]);
  }
  return false;
}
