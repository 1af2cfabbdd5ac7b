import { createHash, createHmac } from 'node:crypto';

/** How emails are stored. `hash` is an HMAC-SHA-256 with the salt, in hexadecimal. */
export type EmailPolicy =
  | { readonly mode: 'keep' }
  | { readonly mode: 'drop' }
  | { readonly mode: 'hash'; readonly salt: string };

/** Decides what is stored of a person's email. Applied before anything leaves the pipeline. */
export interface Privacy {
  /** Equal for equal policies only. Does not reveal the salt. */
  readonly fingerprint: string;
  /** Returns an email as the policy stores it; NULL stays NULL. */
  email(value: string | null | undefined): string | null;
  /** Replaces the emails in a text as the policy says. */
  scrub(text: string): string;
  /**
   * Replaces the emails in the texts of a JSON text, such as a quarantined record. All other text stays unchanged.
   */
  scrubJson(json: string): string;
  /** Replaces erased people in the text of an answer. Apply it before anything is read from the answer. */
  erase(json: string): string;
}

/** Maximum number of hashes in memory. Most organizations have fewer people. */
const CACHE_MAX = 100_000;

/**
 * Creates the functions that apply a policy. It hashes the trimmed email in lower case, so that one person has one hash. It
 * knows no erased people: see `withoutErased`.
 */
export function privacyOf(policy: EmailPolicy): Privacy {
  const fingerprint = createHash('sha256').update(JSON.stringify(policy)).digest('hex');
  const erase = (json: string) => json;
  if (policy.mode === 'keep') {
    const same = (text: string) => text;
    return { fingerprint, email: (value) => value ?? null, scrub: same, scrubJson: same, erase };
  }
  if (policy.mode === 'drop')
    return { fingerprint, email: () => null, ...createScrubbers(() => DROPPED), erase };
  const hash = memoize((email) =>
    isPseudonym(email)
      ? email
      : createHmac('sha256', policy.salt).update(email.trim().toLowerCase()).digest('hex'),
  );
  return {
    fingerprint,
    erase,
    email: (value) => (value === null || value === undefined ? null : hash(value)),
    ...createScrubbers(hash),
  };
}

/** A fingerprint of a salt, in hexadecimal. Equal for equal salts only; it does not reveal the salt. */
export function saltFingerprint(salt: string): string {
  return createHmac('sha256', salt).update('daywalk email salt').digest('hex');
}

/** The longest name before the @ that is recognized. */
const LOCAL_CHARS_MAX = 128;
const DOMAIN_CHARS_MAX = 255;
const LOCAL = /[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]+$/u;
const DOMAIN = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*(?:\.[\p{L}\p{M}\p{N}-]+)+/u;

/** Names of fields whose value always counts as an email: `email`, `user_email`, `authorEmail` … */
const EMAIL_FIELDS = [/(?:^|[^a-z])e-?mail(?:[_-]?address)?$/i, /[a-z]Email(?:Address)?$/];

/** True for the name of a field whose value always counts as an email. */
function isEmailField(name: string): boolean {
  return EMAIL_FIELDS.some((pattern) => pattern.test(name));
}
const MAY_HOLD_EMAIL = /@|\\u0040|e-?mail/i;
const VALUE_FOLLOWS = /[\t\n\r ]*:[\t\n\r ]*(")?/y;

/** Replaces an email that was dropped. */
export const DROPPED = '[dropped]';

function createScrubbers(replace: (email: string) => string): Pick<Privacy, 'scrub' | 'scrubJson'> {
  const scrub = (text: string) => replaceEmails(text, replace);
  return {
    scrub,
    scrubJson: (json) => (MAY_HOLD_EMAIL.test(json) ? scrubTexts(json, { scrub, replace }) : json),
  };
}

interface Scrubbing {
  scrub(text: string): string;
  replace(email: string): string;
}

/** Scrubs all texts, including the names of members. A single pattern would overflow the stack on long texts. */
function scrubTexts(json: string, { scrub, replace }: Scrubbing): string {
  let done = '';
  let from = 0;
  let isEmail = false;
  for (let at = json.indexOf('"'); at >= 0; ) {
    const end = endOfText(json, at);
    const literal = json.slice(at, end);
    VALUE_FOLLOWS.lastIndex = end;
    const follows = VALUE_FOLLOWS.exec(json);
    if (isEmail || /@|\\u0040/.test(literal)) {
      // An escape may hide an email, and must not become a part of one.
      const text = String(JSON.parse(literal));
      const scrubbed = !isEmail ? scrub(text) : text === DROPPED ? text : replace(text);
      if (scrubbed !== text) {
        done += json.slice(from, at) + JSON.stringify(scrubbed);
        from = end;
      }
    }
    isEmail = follows?.[1] !== undefined && isEmailField(literal.slice(1, -1));
    at = json.indexOf('"', end);
  }
  return done + json.slice(from);
}

/** The end of the text that begins at a quote: the position after its closing quote. */
function endOfText(json: string, at: number): number {
  for (let quote = json.indexOf('"', at + 1); quote > 0; quote = json.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (json[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  return json.length;
}

/** Replaces the emails in a text. Searches around each @ only: a pattern over the whole text would need quadratic time. */
export function replaceEmails(text: string, replace: (email: string) => string): string {
  let done = '';
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', Math.max(at + 1, from))) {
    const local = LOCAL.exec(text.slice(Math.max(from, at - LOCAL_CHARS_MAX), at))?.[0];
    const domain = DOMAIN.exec(text.slice(at + 1, at + 1 + DOMAIN_CHARS_MAX))?.[0];
    if (local === undefined || domain === undefined) continue;
    const end = at + 1 + domain.length;
    done += text.slice(from, at - local.length) + replace(text.slice(at - local.length, end));
    from = end;
  }
  return done + text.slice(from);
}

function memoize(compute: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = compute(text);
      if (known.size >= CACHE_MAX) known.clear();
      known.set(text, value);
    }
    return value;
  };
}

/** Half of the digits of a SHA-256: nobody finds two values with the same. */
export const PSEUDONYM_DIGITS = 32;
const PSEUDONYM = new RegExp(`^erased-[0-9a-f]{${PSEUDONYM_DIGITS}}$`);

/** True for what replaces an erased value. */
export function isPseudonym(text: string): boolean {
  return PSEUDONYM.test(text);
}
