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

/** A redactor that can learn further secrets, such as a key that was rotated. It forgets none. */
export interface LearningRedactor {
  readonly redact: Redactor;
  learn(secrets: Iterable<string>): void;
}

/** Creates a {@link LearningRedactor}. */
export function createLearningRedactor(secrets: Iterable<string>): LearningRedactor {
  const known = new Set(secrets);
  let redact = createRedactor(known);
  return {
    redact: (text) => redact(text),
    learn: (more) => {
      const before = known.size;
      for (const secret of more) known.add(secret);
      if (known.size > before) redact = createRedactor(known);
    },
  };
}

function writings(secret: string): string[] {
  if (secret.length < SECRET_LENGTH_MIN) return [];
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}
