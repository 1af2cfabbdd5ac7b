/** What stands in every output where a secret was. */
export const REDACTED = '[redacted]';

/** Shorter values cannot be found by value without garbling the rest; nothing so short is a secret. */
const SECRET_LENGTH_MIN = 4;

/** Replaces every secret in a text. */
export type Redactor = (text: string) => string;

/**
 * A redactor for secrets by value: as they are, as JSON escapes them, and as a URL encodes them. It belongs in front
 * of every sink, and in front of whatever shortens a text: half a secret is not found any more.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const needles = [...new Set([...secrets].flatMap(writings))].sort((a, b) => b.length - a.length);
  return (text) => needles.reduce((result, needle) => result.replaceAll(needle, REDACTED), text);
}

function writings(secret: string): string[] {
  if (secret.length < SECRET_LENGTH_MIN) return [];
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}
