import { afterValue } from '../core/json-text.ts';
import { literalsOf, withoutEscapes } from './json-literals.ts';
import { hmac, isPseudonym, PSEUDONYM_DIGITS } from './people-kept-out.ts';

/** What is kept of the IDs of users: as they are, an HMAC instead, or nothing that belongs to one person. */
export type UserPolicy = 'keep' | 'pseudonym' | 'none';

const ID_NAMES = 'user[_-]?id|user|person';
/** Fields whose value is the ID of a user, also one that looks like an ordinary word. */
const ID_FIELD = new RegExp(`"(?:${ID_NAMES})"\\s*:\\s*`, 'gi');
/** The same in a text that holds JSON, perhaps with its end cut off; and in a text of JSON that holds JSON, up to its own end. */
const ID_FIELD_IN_TEXT = new RegExp(`("(?:${ID_NAMES})"\\s*:\\s*")((?:[^"\\\\]|\\\\.)*)`, 'gis');
const ID_FIELD_IN_LITERAL = new RegExp(
  String.raw`(\\"(?:${ID_NAMES})\\"(?:\s|\\[nrt])*:(?:\s|\\[nrt])*\\")((?:[^"\\]|\\[^"\\]|\\\\\\["\\]|\\\\)*)`,
  'gi',
);
/** Lists with an element for each user, and the fields that may hold the ID in an element besides. */
const LIST_OF_USERS = /"by_user"\s*:\s*(?=[[{])/g;
const ID_IN_ELEMENT: ReadonlySet<string> = new Set(['id', 'group_key']);
/** What looks like the ID of a user, wherever it stands: as the service writes them. */
const ID_WORD = /user_\d[0-9A-Za-z]{3,}/g;
const PSEUDONYM_WORD = new RegExp(`person-[0-9a-f]{${PSEUDONYM_DIGITS}}`, 'g');
/** What stands for a dropped address, or for nobody. */
const OTHER_STAND_INS = new RegExp(`^(?:dropped-[0-9a-f]{${PSEUDONYM_DIGITS}}|\\[withheld\\])$`);
const PSEUDONYM = new RegExp(`^person-[0-9a-f]{${PSEUDONYM_DIGITS}}$`);
/** So many digits at the end of a pseudonym are a seal over the others: an ID that only looks like a pseudonym has none. */
const SEAL_DIGITS = 8;
/** Maximum number of pseudonyms in memory. */
const CACHE_MAX = 100_000;

/** Stands in place of a text that is not kept. */
export const WITHHELD = '[withheld]';

/** What the IDs of users become: a pseudonym, which nobody leads back to the ID without the key, or nothing. */
export class UserIds {
  readonly #keys: readonly string[];
  readonly #known = new Map<string, string>();

  /** @param keys of pseudonyms: new ones are made with the first. Empty if nothing stands for a person */
  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  /** What stands for an ID: always the same. What stands for one stays. */
  of(id: string): string {
    const [key] = this.#keys;
    if (id === '' || key === undefined) return id && WITHHELD;
    let standIn = this.#known.get(id);
    if (standIn !== undefined) return standIn;
    standIn = this.#isStandIn(id) ? id : sealed(key, hmac(key, ['person', id]));
    if (this.#known.size >= CACHE_MAX) this.#known.clear();
    this.#known.set(id, standIn);
    return standIn;
  }

  #isStandIn(id: string): boolean {
    if (isPseudonym(id) || OTHER_STAND_INS.test(id)) return true;
    if (!PSEUDONYM.test(id)) return false;
    return this.#keys.some((key) => sealed(key, id.slice('person-'.length)) === id);
  }

  /** A text with everything in it replaced that looks like the ID of a user, or stands in a field of IDs. */
  text(text: string): string {
    return this.#words(this.#literals(this.#fields(text, ID_FIELD_IN_TEXT)), (id) => this.of(id));
  }

  /**
   * A JSON text without IDs of users. All other characters stay, except escapes that none needs.
   * @param routingIn tells which texts stay, by their starts in a JSON text, such as cursors
   */
  json(json: string, routingIn: (json: string) => (start: number) => boolean): string {
    const plain = this.#withoutListed(withoutEscapes(json));
    const named = replaceValues(plain, ID_FIELD, (value) => this.#value(value));
    const isKept = routingIn(named);
    // No ID that is known by its look needs an escape, so the characters of a literal are those of its text.
    const rest = this.#words(named, (id, at) => (isKept(named.lastIndexOf('"', at)) ? id : this.of(id)));
    return this.#literals(rest);
  }

  /** The value of a field of IDs. What is no text is no ID, and may name a person in it. */
  #value(value: string): string {
    if (value.startsWith('"')) return JSON.stringify(this.of(textIn(value)));
    return /^(?:true|false)$/.test(value) ? value : 'null';
  }

  /** The IDs in elements of lists of users, under names that elsewhere are those of other things; or as names, if it is a map. */
  #withoutListed(json: string): string {
    if (!json.includes('"by_user"')) return json;
    return replaceValues(json, LIST_OF_USERS, (list) => {
      let done = '';
      let from = 0;
      for (const { start, end, value, field, object } of literalsOf(list)) {
        if (object === undefined || object.parent !== undefined) continue;
        const isId = list.startsWith('{') ? field === undefined : ID_IN_ELEMENT.has(field ?? '');
        if (!isId) continue;
        done += list.slice(from, start) + JSON.stringify(this.of(value));
        from = end;
      }
      return done + list.slice(from);
    });
  }

  #words(text: string, standIn: (id: string, at: number) => string): string {
    const rest = text.includes('user_') ? text.replace(ID_WORD, standIn) : text;
    return this.#keys.length === 0 ? rest.replace(PSEUDONYM_WORD, WITHHELD) : rest;
  }

  #literals(text: string): string {
    return text.includes('\\"') ? this.#fields(text, ID_FIELD_IN_LITERAL) : text;
  }

  #fields(text: string, field: RegExp): string {
    return text.replace(field, (_, before: string, id: string) => before + this.of(id));
  }
}

function textIn(literal: string): string {
  const isPlain = !literal.includes('\\') && literal.length > 1 && literal.endsWith('"');
  return isPlain ? literal.slice(1, -1) : String(JSON.parse(literal));
}

function sealed(key: string, digits: string): string {
  const own = digits.slice(0, PSEUDONYM_DIGITS - SEAL_DIGITS);
  return `person-${own}${hmac(key, ['seal', own]).slice(0, SEAL_DIGITS)}`;
}

/** Fields with a record for each person. */
const LISTS_OF_PEOPLE = /"by_user"\s*:(?!\s*null)\s*/g;
/** True for a place in an answer that lies in such a list, or is one. */
export function isOfPeople(path: string): boolean {
  return /\bby_user\b/.test(path);
}

/** Fields and columns with what people have written, or a program of theirs, or what an error quotes. */
const WRITTEN_NAMES = ['command', 'matcher', 'rationale', 'description', 'branch', 'last_error'] as const;
const WRITTEN = new RegExp(`"(?:${WRITTEN_NAMES.join('|')})"\\s*:(?!\\s*null)\\s*`, 'g');

/** True for the name of a column with such texts. A field of an answer that is called `text` may be anything, a column is not. */
export function isWritten(column: string): boolean {
  return column === 'text' || (WRITTEN_NAMES as readonly string[]).includes(column);
}

/** A JSON text without what belongs to one person: no list of people, and no text that somebody has written. */
export function withoutPersons(json: string): string {
  const withoutLists = replaceValues(withoutEscapes(json), LISTS_OF_PEOPLE, () => '[]');
  return replaceValues(withoutLists, WRITTEN, () => JSON.stringify(WITHHELD));
}

function replaceValues(json: string, field: RegExp, replaced: (value: string) => string): string {
  const done: string[] = [];
  let from = 0;
  field.lastIndex = 0;
  while (field.exec(json) !== null) {
    const start = field.lastIndex;
    const end = afterValue(json, start);
    done.push(json.slice(from, start), replaced(json.slice(start, end)));
    from = end;
    field.lastIndex = end;
  }
  return done.join('') + json.slice(from);
}

/** Columns that hold an address as a whole. */
const EMAIL_COLUMNS: ReadonlySet<string> = new Set(['user_email', 'manager_email']);
/** Columns that hold the ID of a user, or of people what stands for a person: an ID or an address. */
const ID_COLUMNS: ReadonlySet<string> = new Set(['user_id', 'person']);

/** What a column holds by its name: an address as a whole, the ID of a user, or another text. */
export function columnKind(name: string): 'email' | 'id' | 'text' {
  if (EMAIL_COLUMNS.has(name)) return 'email';
  return ID_COLUMNS.has(name) ? 'id' : 'text';
}
