import { createHash, createHmac } from 'node:crypto';
import { parseJson } from '../core/json.ts';
import { AddressHints, replaceAddresses } from './addresses.ts';
import {
  DROPPED,
  type ErasedList,
  ErasedPeople,
  isPseudonym,
  NOBODY,
  PSEUDONYM_DIGITS,
} from './erased-people.ts';
import { cursorsIn, type FoundLiteral, fieldBefore, literalAt, valueAfter } from './json-literals.ts';

/** How email addresses are stored. `hash` is an HMAC-SHA-256 with the salt, in hexadecimal. */
export type EmailPolicy =
  | { readonly mode: 'keep' }
  | { readonly mode: 'drop' }
  | { readonly mode: 'hash'; readonly salt: string };

/** Equal for equal policies only. Does not reveal the salt. */
export function policyFingerprint(policy: EmailPolicy): string {
  return createHash('sha256').update(JSON.stringify(policy)).digest('hex');
}

/** A fingerprint of a salt, in hexadecimal. Equal for equal salts only; it does not reveal the salt. */
export function saltFingerprint(salt: string): string {
  return createHmac('sha256', salt).update('daywalk email salt').digest('hex');
}

/** Changes with the rules by which a text passes the gate, so that days are read again after an upgrade. */
export const GATE_VERSION = 2;

/** Options of {@link Gate}. */
interface GateOptions {
  /** The key of pseudonyms for keys of rows whose address is dropped. @default null: such a key loses the address */
  readonly key?: string | null;
}

/**
 * The gate: the only place that decides what is kept of people. Every text from outside passes it before anything else sees it:
 * answers and errors of the service, hook events, files, archived answers, and rows of other warehouses. What came through may pass again and
 * stays the same.
 */
export class Gate {
  /** Equal for gates that let the same through, apart from erased people. Does not reveal the salt. */
  readonly fingerprint: string;
  readonly emails: EmailPolicy['mode'];
  readonly #policy: PassedTexts | null;
  #list: ErasedList = NOBODY;
  #orgId: string | null = null;
  #people = new ErasedPeople(NOBODY, []);
  #given = 0;

  constructor(emails: EmailPolicy, { key = null }: GateOptions = {}) {
    this.#policy = emails.mode === 'keep' ? null : new PassedTexts(emails, key);
    this.emails = emails.mode;
    this.fingerprint = `${GATE_VERSION} ${policyFingerprint(emails)}`;
  }

  /** Whom it keeps out. */
  get erased(): ErasedList {
    return this.#list;
  }

  /**
   * Keeps erased people out from now on.
   * @param orgId the organization whose texts pass; null if it is not known yet: then each answer names its own
   */
  keepOut(list: ErasedList, orgId: string | null): void {
    this.#list = list;
    this.#orgId = orgId;
    this.#given = 0;
    this.#people = this.#peopleOf(
      orgId === null ? [...new Set(list.entries.map((entry) => entry.orgId))] : [orgId],
    );
  }

  /** A JSON text. All characters outside its texts stay as they are. */
  json(json: string): string {
    return this.#passed(json, false);
  }

  /** As {@link json}, for an answer of the service. The cursor of its next page stays: only the service knows where another one leads. */
  answer(json: string): string {
    return this.#passed(json, true);
  }

  #passed(json: string, isAnswer: boolean): string {
    const people = this.#orgId === null && !this.#people.isEmpty ? this.#peopleNamedIn(json) : this.#people;
    const policy = this.#policy;
    const first = people.json(json, { isAnswer });
    return policy === null ? first : people.json(policy.json(first, isAnswer), { isAnswer });
  }

  /** A text that is no JSON. */
  text(text: string): string {
    const policy = this.#policy;
    return policy === null
      ? this.#people.text(text)
      : this.#people.text(policy.text(this.#people.text(text)));
  }

  /** A text that may be JSON, such as the body of an error. */
  any(text: string): string {
    return parseJson(text) === undefined ? this.text(text) : this.json(text);
  }

  /** A text that is part of the key of a row: two of them never become one. */
  key(text: string): string {
    const policy = this.#policy;
    return policy === null ? this.#people.text(text) : this.#people.text(policy.key(this.#people.text(text)));
  }

  /** The ID of a user, also one that looks like an ordinary word. */
  userId(id: string): string {
    return this.#people.text(this.#policy?.key(id) ?? id, true);
  }

  /** A text that is an email address as a whole; null if nothing of it is stored. */
  email(value: string | null): string | null {
    if (value === null) return null;
    const stored = this.#policy === null ? value : this.#policy.email(value);
    return stored && (this.#people.pseudonymOf(value) ?? this.#people.pseudonymOf(stored) ?? stored);
  }

  /**
   * Addresses, as the policy stores them, that came with an erased ID since the last call and are not in the list yet.
   */
  newlyLearned(): readonly string[] {
    const values = this.#people.learned.slice(this.#given);
    this.#given += values.length;
    return values;
  }

  #peopleOf(orgIds: readonly string[]): ErasedPeople {
    return new ErasedPeople(this.#list, orgIds, (email) => this.#policy?.email(email) ?? email);
  }

  /** The erased people of the organization that an answer names; those of all if it names none. */
  #peopleNamedIn(json: string): ErasedPeople {
    const answer = parseJson(json) as { meta?: { org_id?: unknown } } | null | undefined;
    const orgId = answer?.meta?.org_id;
    return typeof orgId === 'string' ? this.#peopleOf([orgId]) : this.#people;
  }
}

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
const HASHED = /^[0-9a-f]{64}$/;

/** What texts become under a policy that hashes or drops addresses. */
class PassedTexts {
  readonly #stored: (address: string) => string;
  readonly #storedInKey: (address: string) => string;
  readonly #drops: boolean;

  constructor(policy: Exclude<EmailPolicy, { mode: 'keep' }>, key: string | null) {
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
    return replaceAddresses(withoutSecrets(text), this.#stored);
  }

  key(text: string): string {
    return replaceAddresses(withoutSecrets(text), this.#storedInKey);
  }

  /** @param isAnswer its cursor stays */
  json(json: string, isAnswer: boolean): string {
    let cursors: ReadonlySet<number> | undefined;
    const isRouting = (start: number) => {
      cursors ??= cursorsIn(json);
      return cursors.has(start);
    };
    let done = '';
    let from = 0;
    const put = ({ start, end, value }: FoundLiteral, after: string) => {
      if (after === value || value === DROPPED) return;
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
    return from === 0 ? json : done + json.slice(from);
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

/** The user info of a URL, up to its last @. */
const USER_INFO = /([a-z][a-z\d+.-]{0,31}:\/\/)([^\s/?#"'<>]+)@/gi;
/** Tokens that stand alone in the user info. */
const TOKEN = /^(?:gh[pousr]_|github_pat_|glpat-|xox[abp]-)/;
const SECRET = '[secret]';

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
    const text = JSON.stringify(['dropped', address.trim().toLowerCase()]);
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
