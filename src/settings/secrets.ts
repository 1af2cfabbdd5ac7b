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
interface LearningRedactor {
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

// A password may hold any character, also a slash or an @ that should have been encoded: mask up to the last @.
const PASSWORD = /(\/\/[^\s/@:]*):\S*@/g;
const USER_INFO = /\/\/\S*@/g;
const PASSWORD_PARAMETER = /([?&](?:ssl)?password=)[^&#\s]*/gi;

/** Replaces the password in a URL, or in a text that was meant to be one. Keeps the user name. */
export function maskUrlPassword(text: string): string {
  return text.replace(PASSWORD, `$1:${REDACTED}@`).replace(PASSWORD_PARAMETER, `$1${REDACTED}`);
}

/** Like {@link maskUrlPassword}, but also replaces the user name: in a URL of the service it may be the key. */
export function maskUserInfo(text: string): string {
  return maskUrlPassword(text.replace(USER_INFO, `//${REDACTED}@`));
}

/** Returns the passwords in a URL, as written and decoded; none if the text is not a URL. */
export function passwordsOf(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const parameters = ['password', 'sslpassword'].map((name) => url.searchParams.get(name) ?? '');
  const written = [...parameters, url.password];
  return [...new Set([...written, ...written.map(decode)])].filter((password) => password !== '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A shorter path does not identify the address: it is a word that other texts may use. */
const PATH_CHARS_MIN = 16;

/** The ways in which an address with a token may be written: whole, as written and parsed, and its path with query. */
export function secretsOfUrl(text: string): string[] {
  const trimmed = text.trim();
  if (!URL.canParse(trimmed)) return [trimmed];
  const { href, pathname, search } = new URL(trimmed);
  const path = `${pathname.replace(/\/$/, '')}${search}`;
  return [trimmed, trimmed.replace(/\/$/, ''), href, ...(path.length < PATH_CHARS_MIN ? [] : [path])];
}

/** Creates the redactor for the passwords in warehouse locations that are not settings. */
export function redactorOfLocations(locations: readonly string[]): Redactor {
  return createRedactor(locations.flatMap(passwordsOf));
}
