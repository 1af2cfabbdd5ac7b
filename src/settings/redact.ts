/** Replaces a secret in every output. */
export const REDACTED = '[redacted]';

/** Replacing shorter values would garble other text; no secret is so short. */
const SECRET_LENGTH_MIN = 4;

/** Replaces every secret in a text. */
export type Redactor = (text: string) => string;

/**
 * Creates a redactor that finds secrets by value: plain, escaped for JSON, and encoded for a URL. Use it before
 * every sink, and before a text is shortened: half a secret is not found.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const needles = [...new Set([...secrets].flatMap(writings))].sort((a, b) => b.length - a.length);
  return (text) => needles.reduce((result, needle) => result.replaceAll(needle, REDACTED), text);
}

function writings(secret: string): string[] {
  if (secret.length < SECRET_LENGTH_MIN) return [];
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}
