/**
 * What may not reach a terminal as it is: control characters (C0 with ANSI's ESC, DEL, C1), line and paragraph
 * separators, unpaired surrogates and the invisible format characters, bidirectional overrides among them. The two
 * joiners stay: emoji and several scripts need them, and they move nothing.
 */
const UNSAFE = /(?![\u200c\u200d])[\u2065\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A text from outside as one line that a terminal shows and does not obey: what is unsafe is written as an escape. */
export function escapeForTerminal(text: string): string {
  return text.replace(UNSAFE, (character) => SHORT[character] ?? escapeOf(character));
}

/**
 * A value as JSON that is safe to print: JSON's own escapes leave DEL, C1 and bidirectional controls alone, these do
 * not. The result parses to the same value and has no line break unless indented.
 */
export function toSafeJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? 'null';
  return json.replace(UNSAFE, (character) => (character === '\n' ? character : jsonEscapeOf(character)));
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${hex(code, 2)}`;
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 4)}}`;
}

function jsonEscapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${hex(unit, 4)}`).join('');
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
