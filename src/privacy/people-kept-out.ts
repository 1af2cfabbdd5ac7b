import { createHmac } from 'node:crypto';
import { CLOSE, HAS_CLOSE, replaceAddresses } from './addresses.ts';
import { isCursor, type Literal, literalsOf, type ObjectScope } from './json-literals.ts';

/** Replaces an address that is dropped. */
export const DROPPED = '[dropped]';

/** Half of the digits of a SHA-256: nobody finds two values with the same. */
export const PSEUDONYM_DIGITS = 32;
const PSEUDONYM = new RegExp(`^erased-[0-9a-f]{${PSEUDONYM_DIGITS}}$`);

/** A pattern of SQL's LIKE for what replaces an erased value. */
export const PSEUDONYM_LIKE = `erased-${'_'.repeat(PSEUDONYM_DIGITS)}`;

/** True for what replaces an erased value. */
export function isPseudonym(text: string): boolean {
  return PSEUDONYM.test(text);
}

/** What can be erased. */
export type KeptOutKind = 'user' | 'email' | 'organization';

/** A value that was erased, without the value. */
export interface KeptOutEntry {
  readonly orgId: string;
  readonly kind: KeptOutKind;
  /** HMAC-SHA-256 of the value, in lower-case hexadecimal. */
  readonly subjectHmac: string;
  readonly pseudonym: string;
  /** An ISO instant. */
  readonly erasedAt: string;
}

/** Everything that was erased, and the keys of its HMACs: one, unless warehouses were joined. */
export interface KeptOut {
  readonly keys: readonly string[];
  readonly entries: readonly KeptOutEntry[];
}

export const NOBODY: KeptOut = { keys: [], entries: [] };

/** Maximum number of texts whose HMACs are remembered. */
const CACHE_MAX = 200_000;

/**
 * Words as most IDs and addresses are written; after an escape of JSON inside a text; after a colour of a terminal; before an @
 * and a host; without the ending of a file; between blanks, quotes and brackets; and as a part of a path or a URL.
 */
const WORDS = [
  /[\p{L}\p{M}\p{N}_.@+-]+/gu,
  /(?<=\\[bfnrt])[\p{L}\p{M}\p{N}_.@+-]+/gu,
  /(?<=(?:\p{Cc}|\\(?:u001b|x1b|033|e))\[[\d;]{0,32}[A-Za-z])[\p{L}\p{M}\p{N}_.@+-]+/giu,
  /[\p{L}\p{M}\p{N}_.+-]+/gu,
  /[\p{L}\p{M}\p{N}_-]+/gu,
  /[^\s"'`,;()<>[\]{}]+/gu,
  /[^\s"'`,;()<>[\]{}/\\\p{Cc}=&?#]+/gu,
];
/** Words directly beside a script without blanks. */
const BESIDE = new RegExp(String.raw`[[\p{L}\p{M}\p{N}_.@+\-]--${CLOSE}]+`, 'gv');
const patternsFor = (text: string) => (HAS_CLOSE.test(text) ? [...WORDS, BESIDE] : WORDS);
/** What could be an ordinary word or number. IDs that look so are looked for only where IDs of users stand. */
const ORDINARY = /^(?:.{0,5}|[A-Za-z]{1,20}|\d{1,9})$/u;
/** True for a text that could be an ordinary word or number. */
export function isOrdinary(text: string): boolean {
  return ORDINARY.test(text);
}

/** Every word of a text that is looked up in the list of the erased. */
export function candidatesIn(text: string): string[] {
  return patternsFor(text)
    .flatMap((pattern) => text.match(pattern) ?? [])
    .filter((word) => !isOrdinary(word));
}

/** Reads each text that an eraser has passed. */
export interface TextReader {
  /** @param place where the text stands */
  read(text: string, place: string): void;
}

const FILE_ENDING = /\.[a-z]{2,5}$/i;
/** What may stand around a word that ends or begins a sentence. */
const AROUND = /^[.,:;!?@+_-]+|[.,:;!?@+_-]+$/g;

/** The HMAC of a value. Email addresses are the same in any letter case. */
export function subjectHmac(key: string, orgId: string, kind: KeptOutKind, value: string): string {
  return hmac(key, ['subject', orgId, kind, kind === 'email' ? normalEmail(value) : value]);
}

/** What replaces a value. The same value always gets the same pseudonym. */
export function pseudonymOf(key: string, orgId: string, kind: KeptOutKind, value: string): string {
  const digest = hmac(key, ['pseudonym', orgId, kind, kind === 'email' ? normalEmail(value) : value]);
  return `erased-${digest.slice(0, PSEUDONYM_DIGITS)}`;
}

/** Two spellings of one address are one. */
export function normalEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** The HMAC of some texts, as hexadecimal digits. */
export function hmac(key: string, parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex');
}

/**
 * Replaces the erased people of some organizations by their pseudonyms. It knows them by HMACs, so it looks at every text: the
 * text as such, and each of its words.
 */
export class PeopleKeptOut implements TextEraser {
  readonly #places: readonly { readonly key: string; readonly orgId: string }[];
  readonly #entries: ReadonlyMap<string, KeptOutEntry>;
  /** What replaces the IDs of people. */
  readonly #users: ReadonlySet<string>;
  readonly #known = new Map<string, KeptOutEntry | null>();
  readonly #learned = new Map<string, string>();
  readonly #stored: (email: string) => string;
  #reader: TextReader | null = null;
  #place: string | null = null;

  /**
   * @param stored how the email policy stores an address. @default as it is
   */
  constructor(list: KeptOut, orgIds: readonly string[], stored = (email: string) => email) {
    const entries = list.entries.filter(
      ({ orgId, kind }) => orgIds.includes(orgId) && kind !== 'organization',
    );
    const organizations = [...new Set(entries.map(({ orgId }) => orgId))];
    this.#places = list.keys.flatMap((key) => organizations.map((orgId) => ({ key, orgId })));
    this.#entries = new Map(entries.map((entry) => [entry.subjectHmac, entry]));
    this.#users = new Set(entries.filter(({ kind }) => kind === 'user').map(({ pseudonym }) => pseudonym));
    this.#stored = stored;
  }

  /** Has every text read that is passed from now on, without the erased, where a place is named. */
  showTo(reader: TextReader | null): void {
    this.#reader = reader;
  }

  /** @param place where the next texts stand; null where only an ID or an address can stand */
  at(place: string | null): void {
    this.#place = place;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Addresses, as the policy stores them, that were found with an erased ID and are not in the list. */
  get learned(): readonly string[] {
    return [...this.#learned.values()];
  }

  /** What replaces a value that is the ID or an address of an erased person; undefined for any other. */
  pseudonymOf(value: string): string | undefined {
    return this.#find(value)?.pseudonym;
  }

  /** True for the ID or an address of an erased person, and for what replaces one. */
  isKeptOut(value: string): boolean {
    return isPseudonym(value) || this.#find(value) !== undefined;
  }

  isUserKeptOut(text: string): boolean {
    return this.#users.has(text) || this.#find(text)?.kind === 'user';
  }

  text(text: string, isId = false): string {
    const after = this.#textWithout(text, isId);
    if (this.#place !== null && !isId) this.#reader?.read(after, this.#place);
    return after;
  }

  #textWithout(text: string, isId: boolean): string {
    if (this.isEmpty) return text;
    const whole = isId || !ORDINARY.test(text) ? this.pseudonymOf(text) : undefined;
    if (whole !== undefined) return whole;
    const word = (found: string) => this.#pseudonymOfWord(found) ?? this.#withoutEnds(found);
    const rest = patternsFor(text).reduce((left, pattern) => left.replace(pattern, word), text);
    return replaceAddresses(rest, (email) => this.#pseudonymOfEmail(email));
  }

  /**
   * The JSON text without erased people.
   * @param options.isOwn all of it belongs to one of them. @default false
   * @param options.isAnswer its cursor of the next page stays. @default false
   */
  json(json: string, { isOwn = false, isAnswer = false }: Partial<Whose> = {}): string {
    return this.isEmpty ? json : eraseJson(json, this, { isOwn, isAnswer });
  }

  ownEmail(email: string, isSure: boolean): string {
    const stored = this.#stored(email);
    if (email === '' || email === DROPPED || isPseudonym(email)) return email;
    const known = this.pseudonymOf(stored);
    if (known !== undefined) return known;
    const [place] = this.#places;
    if (place === undefined) return email;
    if (isSure) this.#learned.set(normalEmail(stored), stored);
    return pseudonymOf(place.key, place.orgId, 'email', stored);
  }

  /** The list may have the address as it was received, or as the policy stores it. */
  #pseudonymOfEmail(email: string): string | undefined {
    return this.pseudonymOf(email) ?? this.pseudonymOf(this.#stored(email));
  }

  #pseudonymOfWord(word: string): string | undefined {
    return ORDINARY.test(word) ? undefined : this.pseudonymOf(word);
  }

  /** The word with its own ends: a full stop after a sentence, or the ending of a file. */
  #withoutEnds(word: string): string {
    for (const bare of [word.replace(AROUND, ''), word.replace(FILE_ENDING, '')]) {
      const pseudonym = this.#pseudonymOfWord(bare);
      if (pseudonym !== undefined) return word.replace(bare, () => pseudonym);
    }
    return word;
  }

  #find(value: string): KeptOutEntry | undefined {
    if (this.isEmpty) return undefined;
    const cached = this.#known.get(value);
    if (cached !== undefined) return cached ?? undefined;
    const found = this.#search(value) ?? null;
    if (this.#known.size >= CACHE_MAX) this.#known.clear();
    this.#known.set(value, found);
    return found ?? undefined;
  }

  #search(value: string): KeptOutEntry | undefined {
    for (const { key, orgId } of this.#places) {
      for (const kind of ['user', 'email'] as const) {
        const entry = this.#entries.get(subjectHmac(key, orgId, kind, value));
        if (entry !== undefined) return entry;
      }
    }
    return undefined;
  }
}

/** Whose a JSON text is: all of it an erased person's; an answer of the service. */
type Whose = Readonly<Record<'isOwn' | 'isAnswer', boolean>>;

/** What a text in JSON becomes. */
interface TextEraser {
  /** True for the ID of an erased person. */
  isUserKeptOut(text: string): boolean;
  /**
   * The text without erased people.
   * @param isId it is where IDs of users stand, so that it is one even if it looks like an ordinary word
   */
  text(text: string, isId: boolean): string;
  /**
   * What replaces an email address of an erased person, also one that was never seen before.
   * @param isSure the address is in the same object as the ID, so it is no one else's
   */
  ownEmail(email: string, isSure: boolean): string;
}

/** Fields that hold the ID of the person whom a record is about; not that of a manager. */
const OWN_ID_FIELD = /^(?:user(?:[_-]?id)?|id|group_key)$/i;
/** Fields that hold an address of the person whom a record is about; not that of a manager. */
const OWN_EMAIL_FIELD =
  /^(?!.*(?:manager|supervisor|owner|contact|support|admin|sender|author)).*e-?mails?(?:[_-]?address(?:es)?)?$|^mail$/i;
/** Those of them that hold the address of this person and of no group. */
const SURE_EMAIL_FIELD = /^(?:user[_-]?)?e-?mail(?:[_-]?address)?$/i;
/** Fields that hold the name of a person if they are in the record of one. */
const NAME_FIELD =
  /^(?:display|full|first|last|given|family|real|user)[_-]?name$|^(?:login|username|nickname)$/i;
/** Replaces the name of an erased person. */
const NAME_ERASED = '[erased]';

/**
 * Erases people from a JSON text. All other characters stay as they are. An object that holds the ID of an erased person
 * belongs to that person, with everything in it: its email addresses and names are replaced too.
 * @param json valid JSON, nested at any depth
 * @param isOwn all of the text belongs to an erased person
 */
function eraseJson(json: string, eraser: TextEraser, { isOwn, isAnswer }: Whose): string {
  const literals = literalsOf(json);
  for (const { object, value, field } of literals)
    if (object !== undefined && isOwnId(field) && eraser.isUserKeptOut(value)) object.isOwn = true;
  let done = '';
  let from = 0;
  for (const literal of literals) {
    if (isAnswer && isCursor(literal)) continue;
    const after = replaced(literal, eraser, isOwn);
    if (after === literal.value) continue;
    done += json.slice(from, literal.start) + JSON.stringify(after);
    from = literal.end;
  }
  return done + json.slice(from);
}

function replaced(literal: Literal, eraser: TextEraser, isOwn: boolean): string {
  const { value, field, object } = literal;
  const after = eraser.text(value, isOwnId(field));
  // An ID inside an address or a name is not all of it.
  if (isPseudonym(after) || field === undefined || !(isOwn || belongs(object))) return after;
  const isBeside = object?.isOwn === true || (isOwn && object?.parent === undefined);
  const isSure = isBeside && SURE_EMAIL_FIELD.test(field);
  if (OWN_EMAIL_FIELD.test(field)) return eraser.ownEmail(value, isSure);
  return NAME_FIELD.test(field) ? NAME_ERASED : after;
}

function isOwnId(field: string | undefined): boolean {
  return field !== undefined && OWN_ID_FIELD.test(field);
}

function belongs(object: ObjectScope | undefined): boolean {
  for (let scope = object; scope !== undefined; scope = scope.parent) if (scope.isOwn) return true;
  return false;
}
