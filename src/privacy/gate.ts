import { createHash, createHmac } from 'node:crypto';
import { isDay, type UtcDay } from '../core/day.ts';
import { parseJson } from '../core/json.ts';
import { replaceDays } from './json-literals.ts';
import { HASHED, PassedTexts, routingIn } from './passed-texts.ts';
import { type KeptOut, NOBODY, PeopleKeptOut } from './people-kept-out.ts';
import {
  columnKind,
  isOfPeople,
  isWritten,
  UserIds,
  type UserPolicy,
  WITHHELD,
  withoutPersons,
} from './user-ids.ts';

/**
 * How people are stored. Of an email address, `hash` keeps an HMAC-SHA-256 with the salt, in hexadecimal. User IDs are kept unless
 * `users` says otherwise, which only a policy does that keeps no address.
 */
export type EmailPolicy =
  | { readonly mode: 'keep' }
  | { readonly mode: 'drop'; readonly users?: LessOfUsers }
  | { readonly mode: 'hash'; readonly salt: string; readonly users?: LessOfUsers };

type LessOfUsers = Exclude<UserPolicy, 'keep'>;

/** What a policy keeps of users. */
export function usersOf(policy: EmailPolicy): UserPolicy {
  return policy.mode === 'keep' ? 'keep' : (policy.users ?? 'keep');
}

/** An email address as a policy stores it; a dropped one as it is. */
export function storedEmail(policy: EmailPolicy, email: string): string {
  return policy.mode === 'hash' ? (new PassedTexts(policy, null).email(email) ?? email) : email;
}

/** Equal for equal policies about addresses only. Does not reveal the salt. */
export function policyFingerprint(policy: EmailPolicy): string {
  const { mode } = policy;
  const emails = mode === 'hash' ? { mode, salt: policy.salt } : { mode };
  return createHash('sha256').update(JSON.stringify(emails)).digest('hex');
}

/** A fingerprint of a salt, in hexadecimal. Equal for equal salts only; it does not reveal the salt. */
export function saltFingerprint(salt: string): string {
  return createHmac('sha256', salt).update('daywalk email salt').digest('hex');
}

/** Changes with the rules by which a text passes the gate, so that days are read again after an upgrade. */
export const GATE_VERSION = 4;

/** Options of {@link Gate}. */
interface GateOptions {
  /**
   * The keys of pseudonyms, for users and for keys of rows whose address is dropped. New ones are made with the first.
   * @default none: such a key loses the address
   */
  readonly keys?: readonly string[];
  /** The first day whose people are kept: an older one passes as under `none`. @default null: all are */
  readonly usersFrom?: UtcDay | null;
}

/**
 * The gate: the only place that decides what is kept of people. Every text from outside passes it before anything else sees it:
 * answers and errors of the service, hook events, files, archived answers, and rows of other warehouses. What came through may pass again and
 * stays the same.
 */
export class Gate {
  /** Equal for gates that let the same through, apart from whom they keep out and from days that have expired. Does not reveal the salt. */
  readonly fingerprint: string;
  readonly emails: EmailPolicy['mode'];
  readonly users: UserPolicy;
  /** The first day whose people are kept; null if no day has expired. */
  readonly usersFrom: UtcDay | null;
  /** What days that have expired pass. */
  readonly #expired: Gate | null;
  readonly #policy: PassedTexts | null;
  readonly #users: UserIds | null;
  #list: KeptOut = NOBODY;
  #orgId: string | null = null;
  #people = new PeopleKeptOut(NOBODY, []);
  #given = 0;

  /** @param users default: as the policy says */
  constructor(
    emails: EmailPolicy,
    { keys = [], usersFrom = null }: GateOptions = {},
    users = usersOf(emails),
  ) {
    this.#policy = emails.mode === 'keep' ? null : new PassedTexts(emails, keys[0] ?? null);
    this.emails = emails.mode;
    this.users = users;
    this.usersFrom = usersFrom;
    this.#expired = usersFrom === null || users === 'none' ? null : new Gate(emails, { keys }, 'none');
    if (this.users === 'pseudonym' && keys.length === 0)
      throw new TypeError('a gate of pseudonyms needs their key');
    this.#users = this.users === 'keep' ? null : new UserIds(this.users === 'none' ? [] : keys);
    this.fingerprint = `${GATE_VERSION} ${policyFingerprint(emails)} ${this.users}`;
  }

  /** Whom it keeps out, in any organization. */
  get keptOut(): KeptOut {
    return this.#list;
  }

  /**
   * Keeps people out from now on: pseudonyms stand for them.
   * @param orgId the organization whose texts pass; null if it is not known yet: then each answer names its own
   */
  keepOut(list: KeptOut, orgId: string | null): void {
    this.#list = list;
    this.#orgId = orgId;
    this.#given = 0;
    this.#expired?.keepOut(list, orgId);
    this.#people = this.#peopleOf(
      orgId === null ? [...new Set(list.entries.map((entry) => entry.orgId))] : [orgId],
    );
  }

  /** Texts that pass from now on are of this organization. @param orgId as in {@link keepOut} */
  passFor(orgId: string | null): void {
    this.keepOut(this.#list, orgId);
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
    const isNamed = isAnswer && this.#orgId === null && !this.#people.isEmpty;
    const people = isNamed ? this.#peopleNamedIn(json) : this.#people;
    const policy = this.#policy;
    const first = people.json(json, { isAnswer });
    if (policy === null && this.#users === null) return this.#withoutExpired(first);
    const kept = policy?.json(first, isAnswer) ?? first;
    return people.json(this.#withoutExpired(this.#withoutUsers(kept, isAnswer)), { isAnswer });
  }

  /** A JSON text, of which objects that are of a day that has expired pass as under `none`. */
  #withoutExpired(json: string): string {
    const expired = this.#expired;
    if (expired === null) return json;
    return replaceDays(
      json,
      (day) => this.on(day) === expired,
      (text) => expired.json(text),
    );
  }

  #withoutUsers(json: string, isAnswer: boolean): string {
    if (this.#users === null) return json;
    const kept = this.users === 'none' ? withoutPersons(json) : json;
    return this.#users.json(kept, isAnswer ? routingIn : () => () => false);
  }

  /** A text that is no JSON. */
  text(text: string): string {
    return this.#words(text, 'text');
  }

  #words(text: string, as: 'text' | 'key'): string {
    const first = this.#people.text(text);
    if (this.#policy === null && this.#users === null) return first;
    const kept = this.#policy?.[as](first) ?? first;
    return this.#people.text(this.#users?.text(kept) ?? kept);
  }

  /** The body of an error: where nothing of people is kept, nothing of what the service has written. */
  body(text: string): string {
    return this.users === 'none' ? WITHHELD : this.any(text);
  }

  /** A text that may be JSON, such as the body of an error. */
  any(text: string): string {
    return parseJson(text) === undefined ? this.text(text) : this.json(text);
  }

  /** A text that is part of the key of a row: two of them never become one. */
  key(text: string): string {
    return this.#words(text, 'key');
  }

  /** The ID of a user, also one that looks like an ordinary word. */
  userId(id: string): string {
    const passed = this.#policy?.key(id) ?? id;
    const kept = this.#users?.of(passed) ?? passed;
    return this.#people.text(kept, true);
  }

  /** False if no row about one person is stored. */
  get keepsPeople(): boolean {
    return this.users !== 'none';
  }

  /** False for a place in an answer of which nothing is kept, because it lies in a list of people. */
  keepsPlace(path: string): boolean {
    return this.keepsPeople || !isOfPeople(path);
  }

  /** False if no name of a person is stored beside the address. */
  get keepsNames(): boolean {
    return this.emails === 'keep';
  }

  /** False for a day of which no row about one person is kept: it has expired, or none is. */
  keepsUsersOf(day: UtcDay): boolean {
    return this.on(day).keepsPeople;
  }

  /** What rows of a day pass: this gate, or the one of days that have expired. Rows without a day never expire. */
  on(day: unknown): Gate {
    const isExpired = this.usersFrom !== null && isDay(day) && day < this.usersFrom;
    return isExpired ? (this.#expired ?? this) : this;
  }

  /** The text in a column of a stored row. @param isKey it is part of the key */
  column(name: string, text: string, isKey: boolean): string | null {
    if (!this.keepsPeople && isWritten(name)) return WITHHELD;
    const kind = columnKind(name);
    if (kind === 'email') return this.email(text);
    if (kind === 'text') return isKey ? this.key(text) : this.text(text);
    const isAddress = name === 'person' && (text.includes('@') || HASHED.test(text));
    return isAddress ? this.key(text) : this.userId(text);
  }

  /** A text that is an email address as a whole; null if nothing of it is stored. */
  email(value: string | null): string | null {
    if (value === null) return null;
    const stored = this.#policy === null ? value : this.#policy.email(value);
    return stored && (this.#people.pseudonymOf(value) ?? this.#people.pseudonymOf(stored) ?? stored);
  }

  /**
   * Addresses, as the policy stores them, that came with an ID that is kept out since the last call and are not in the list yet.
   */
  newlyLearned(): readonly string[] {
    const values = this.#people.learned.slice(this.#given);
    this.#given += values.length;
    return values;
  }

  #peopleOf(orgIds: readonly string[]): PeopleKeptOut {
    return new PeopleKeptOut(this.#list, orgIds, (email) => this.#policy?.email(email) ?? email);
  }

  /** The people whom it keeps out of the organization that an answer names; those of all if it names none. */
  #peopleNamedIn(json: string): PeopleKeptOut {
    const answer = parseJson(json) as { meta?: { org_id?: unknown } } | null | undefined;
    const orgId = answer?.meta?.org_id;
    return typeof orgId === 'string' ? this.#peopleOf([orgId]) : this.#people;
  }
}
