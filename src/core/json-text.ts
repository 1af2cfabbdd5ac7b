import { type Node, parseTree } from 'jsonc-parser';
import { canonicalJson, isExact } from './json.ts';

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
