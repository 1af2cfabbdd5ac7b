import { createHash, createHmac } from 'node:crypto';

/** How the emails of people are stored. `hash` is an HMAC-SHA-256 with the salt, in hexadecimal. */
export type EmailPolicy =
  | { readonly mode: 'keep' }
  | { readonly mode: 'drop' }
  | { readonly mode: 'hash'; readonly salt: string };

/** Decides what of a person's email is stored. Applied before anything leaves the pipeline. */
export interface Privacy {
  /** Equal for equal policies only. Tells nothing of the salt. */
  readonly fingerprint: string;
  /** An email as it is stored; NULL stays NULL. */
  email(value: string | null | undefined): string | null;
  /** A text in which emails may stand, without them where the policy says so. */
  scrub(text: string): string;
  /** A JSON text, such as a record that is set aside, without the emails in its texts; everything else stays as it is. */
  scrubJson(json: string): string;
}

/** Emails kept in memory as hashes; an organization has fewer people than this, usually. */
const CACHE_MAX = 100_000;

/** The privacy that a policy asks for. A hash is of the trimmed email in lower case, so one person has one hash. */
export function privacyOf(policy: EmailPolicy): Privacy {
  const fingerprint = createHash('sha256').update(JSON.stringify(policy)).digest('hex');
  if (policy.mode === 'keep') {
    return { fingerprint, email: (value) => value ?? null, scrub: (text) => text, scrubJson: (json) => json };
  }
  if (policy.mode === 'drop') return { fingerprint, email: () => null, ...scrubbers(() => DROPPED) };
  const hash = cached((email) =>
    createHmac('sha256', policy.salt).update(email.trim().toLowerCase()).digest('hex'),
  );
  return {
    fingerprint,
    email: (value) => (value === null || value === undefined ? null : hash(value)),
    ...scrubbers(hash),
  };
}

/** Tells salts apart without telling them: equal for equal salts only. In hexadecimal. */
export function saltFingerprint(salt: string): string {
  return createHmac('sha256', salt).update('daywalk email salt').digest('hex');
}

/** The longest name before the @ that is looked for. */
const LOCAL_CHARS_MAX = 128;
const DOMAIN_CHARS_MAX = 255;
const LOCAL = /[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]+$/u;
const DOMAIN = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*(?:\.[\p{L}\p{M}\p{N}-]+)+/u;

/** The name of a field whose value is an email, whatever it looks like: `email`, `user_email`, `authorEmail` … */
const EMAIL_FIELDS = [/(?:^|[^a-z])e-?mail(?:[_-]?address)?$/i, /[a-z]Email(?:Address)?$/];
const MAY_HOLD_EMAIL = /@|\\u0040|e-?mail/i;
const VALUE_FOLLOWS = /[\t\n\r ]*:[\t\n\r ]*(")?/y;

/** Stands for an email that was dropped. */
const DROPPED = '[dropped]';

function scrubbers(replace: (email: string) => string): Pick<Privacy, 'scrub' | 'scrubJson'> {
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

/** Goes from text to text, names of members among them: one pattern for a text runs out of stack where it is long. */
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
      // Emails may hide behind escapes, and an escape must not become part of one.
      const text = String(JSON.parse(literal));
      const scrubbed = !isEmail ? scrub(text) : text === DROPPED ? text : replace(text);
      if (scrubbed !== text) {
        done += json.slice(from, at) + JSON.stringify(scrubbed);
        from = end;
      }
    }
    isEmail = follows?.[1] !== undefined && EMAIL_FIELDS.some((name) => name.test(literal.slice(1, -1)));
    at = json.indexOf('"', end);
  }
  return done + json.slice(from);
}

/** Where a text ends that begins at a quote, after its closing one. */
function endOfText(json: string, at: number): number {
  for (let quote = json.indexOf('"', at + 1); quote > 0; quote = json.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (json[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  return json.length;
}

/** Looks around each @ only: a pattern over the whole text would take the square of a long one. */
function replaceEmails(text: string, replace: (email: string) => string): string {
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

function cached(compute: (text: string) => string): (text: string) => string {
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
