const REDACTED = '[redacted]';

/** A shorter text is not a key, and redacting it would damage other texts. */
const KEY_CHARS_MIN = 8;

/**
 * Removes the API key from what the service sends: it must not reach a table, a log or a quarantined record. A JSON text
 * may write any of its characters as an escape.
 */
export function keyRedactor(apiKey: string): (text: string) => string {
  if (apiKey.length < KEY_CHARS_MIN) return (text) => text;
  const written = new RegExp([...apiKey].map(waysToWrite).join(''), 'g');
  // Only a text with escapes can hold the key in another form. Most have none, and this search is cheap.
  return (text) => (text.includes(apiKey) || text.includes('\\') ? text.replace(written, REDACTED) : text);
}

/** As {@link keyRedactor}, for several keys; the longest first, because one may be part of another. */
export function keysRedactor(keys: readonly string[]): (text: string) => string {
  const redactors = [...new Set(keys)].sort((a, b) => b.length - a.length).map(keyRedactor);
  return (text) => redactors.reduce((rest, redact) => redact(rest), text);
}

function waysToWrite(char: string): string {
  const hex = char.charCodeAt(0).toString(16).padStart(4, '0');
  const code = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const plain = char.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return `(?:\\\\?${plain}|\\\\u${code})`;
}
