/**
 * Characters that must not reach a terminal: control characters (C0 including ESC, DEL, C1), line and paragraph
 * separators, unpaired surrogates, and invisible format characters, including bidirectional overrides. The two joiners
 * are allowed: emoji and several scripts need them, and they do no harm.
 */
const UNSAFE = /(?![\u200c\u200d])[\u2065\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Makes a text from outside safe to print, on one line: replaces unsafe characters by visible escapes such as `\\x1b`. */
export function escapeForTerminal(text: string): string {
  return text.replace(UNSAFE, (character) => SHORT[character] ?? escapeOf(character));
}

/**
 * Formats a value as JSON that is safe to print. Also escapes what JSON itself does not: DEL, C1 and bidirectional
 * controls. The result parses to the same value, and has no line break unless indented.
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
