import { createHmac } from 'node:crypto';
import { AddressHints, replaceAddresses } from './addresses.ts';
import { cursorsIn, type FoundLiteral, fieldBefore, literalAt, valueAfter } from './json-literals.ts';
import { DROPPED, isPseudonym, PSEUDONYM_DIGITS } from './people-kept-out.ts';

/** Names of fields whose value always counts as an email: `email`, `user_email`, `authorEmail` … */
const EMAIL_FIELDS = [/(?:^|[^a-z])e-?mail(?:[_-]?address)?$/i, /[a-z]Email(?:Address)?$/];

function isEmailField(name: string): boolean {
  return EMAIL_FIELDS.some((pattern) => pattern.test(name));
}

/** Fields whose values become keys of rows. */
export const KEY_FIELDS: ReadonlySet<string> = new Set([
  ...[
    'tool',
    'server',
    'name',
    'event',
    'matcher',
    'command',
    'extension',
    'language',
    'client',
    'group_key',
  ],
  ...['model_id', 'model', 'model_name', 'user_id', 'user', 'id', 'reportId', 'sessionId'],
]);

/** Maximum number of hashes in memory. Most organizations have fewer people. */
const CACHE_MAX = 100_000;
/** An email as the policy `hash` stores it. */
const HASH_DIGITS = 64;
export const HASHED = /^[0-9a-f]{64}$/;

type AddressPolicy = { readonly mode: 'drop' } | { readonly mode: 'hash'; readonly salt: string };

/** What texts become under a policy that hashes or drops addresses. */
export class PassedTexts {
  readonly #stored: (address: string) => string;
  readonly #storedInKey: (address: string) => string;
  readonly #drops: boolean;

  constructor(policy: AddressPolicy, key: string | null) {
    this.#drops = policy.mode === 'drop';
    const hashed = policy.mode === 'hash' ? memoize(hasher(policy.salt)) : null;
    this.#stored = hashed ?? (() => DROPPED);
    this.#storedInKey = hashed ?? (key === null ? () => DROPPED : memoize(dropper(key)));
  }

  /** The trimmed address in lower case is hashed, so that one person has one hash. */
  email(value: string): string | null {
    if (this.#drops) return null;
    const isStored =
      value === DROPPED || (value.length === HASH_DIGITS ? HASHED.test(value) : isPseudonym(value));
    return isStored ? value : this.#stored(value);
  }

  text(text: string): string {
    return withoutPeople(text, this.#stored);
  }

  key(text: string): string {
    return withoutPeople(text, this.#storedInKey);
  }

  /** @param isAnswer its cursor stays */
  json(json: string, isAnswer: boolean): string {
    const isRouting = routingIn(json);
    let done = '';
    let from = 0;
    const put = ({ start, end, value }: FoundLiteral, after: string) => {
      if (after === value) return;
      done += json.slice(from, start) + JSON.stringify(after);
      from = end;
    };
    const hints = new AddressHints(json);
    for (let at = hints.from(0); at >= 0; ) {
      const literal = literalAt(json, at);
      if (literal === undefined) {
        at = hints.from(at + 1);
        continue;
      }
      const valueAt = isEmailField(literal.value) ? valueAfter(json, literal.end) : undefined;
      const email = valueAt === undefined ? undefined : literalAt(json, valueAt);
      put(literal, this.#passed(json, literal, isAnswer ? isRouting : () => false));
      if (email !== undefined) put(email, this.email(email.value) ?? DROPPED);
      at = hints.from((email ?? literal).end);
    }
    return done + json.slice(from);
  }

  #passed(json: string, { value, start }: FoundLiteral, isRouting: (start: number) => boolean): string {
    const key = this.key(value);
    if (key === value) return value;
    const field = fieldBefore(json, start);
    const isKey = field === undefined || KEY_FIELDS.has(field);
    if (field === 'next_cursor' && isRouting(start)) return value;
    return isKey ? key : this.text(value);
  }
}

/** Tells whether the text at a place leads to the next page. It looks for such places when it is asked for the first time. */
export function routingIn(json: string): (start: number) => boolean {
  let cursors: ReadonlySet<number> | undefined;
  return (start) => {
    cursors ??= cursorsIn(json);
    return cursors.has(start);
  };
}

/** The user info of a URL, up to its last @. */
const USER_INFO = /([a-z][a-z\d+.-]{0,31}:\/\/)([^\s/?#"'<>]+)@/gi;
/** Tokens that stand alone in the user info. */
const TOKEN = /^(?:gh[pousr]_|github_pat_|glpat-|xox[abp]-)/;
const SECRET = '[secret]';

/** An address that is replaced can end in what a URL cannot have, so that the user info goes on only behind it: hence twice. */
function withoutPeople(text: string, replace: (address: string) => string): string {
  return withoutSecrets(replaceAddresses(withoutSecrets(text), replace));
}

/** The text without the passwords, and the well-known tokens, in the user info of its URLs. */
function withoutSecrets(text: string): string {
  if (!text.includes('://') || !text.includes('@')) return text;
  return text.replace(USER_INFO, (whole, scheme: string, info: string) => {
    const colon = info.indexOf(':');
    if (colon >= 0) return `${scheme}${info.slice(0, colon)}:${SECRET}@`;
    return TOKEN.test(info) ? `${scheme}${SECRET}@` : whole;
  });
}

function hasher(salt: string): (address: string) => string {
  return (address) => createHmac('sha256', salt).update(address.trim().toLowerCase()).digest('hex');
}

function dropper(key: string): (address: string) => string {
  return (address) => {
    const text = JSON.stringify(['dropped', address.toLowerCase()]);
    return `dropped-${createHmac('sha256', key).update(text).digest('hex').slice(0, PSEUDONYM_DIGITS)}`;
  };
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
