import Type, { type Static } from 'typebox';
import { sql } from '../../schema/query.ts';
import type { Subject } from '../kept-out/index.ts';
import type { Warehouse } from '../port/index.ts';
import { candidatesIn, isOrdinary, type PeopleKeptOut, type TextReader } from '../privacy/index.ts';

/** What is done with joined forms: name them, replace the words that hold them, or accept them. */
export const JoinedPolicy = Type.Union([
  Type.Literal('name'),
  Type.Literal('replace'),
  Type.Literal('accept'),
]);
export type JoinedPolicy = Static<typeof JoinedPolicy>;

const OUTCOMES = { name: 'left', replace: 'replaced', accept: 'accepted' } as const;

/** What was found of the ID and the addresses in joined forms, without the values. */
export const JoinedResult = Type.Object({
  policy: JoinedPolicy,
  found: Type.Array(
    Type.Object({
      /** Of the ID or the address. */
      pseudonym: Type.String(),
      /** Table and column, `archive` or `spool`. */
      place: Type.String(),
      /** Texts. */
      count: Type.Integer(),
      outcome: Type.Union([Type.Literal('left'), Type.Literal('replaced'), Type.Literal('accepted')]),
    }),
  ),
});
export type JoinedResult = Static<typeof JoinedResult>;

/** True if joined forms were found that nobody has replaced or accepted. */
export function isOpen(joined: JoinedResult | undefined): boolean {
  return joined?.found.some(({ outcome }) => outcome === 'left') ?? false;
}

/** The search for the joined forms of one person, over the rounds of a sweep. */
export class JoinedSearch {
  readonly #before: JoinedResult;
  readonly #subjects: readonly Subject[];
  readonly #others: readonly string[];
  #first: JoinedForms | null = null;
  #last = new JoinedForms([], []);
  #pseudonyms: ReadonlySet<string> = new Set();

  private constructor(before: JoinedResult, subjects: readonly Subject[], others: readonly string[]) {
    this.#before = before;
    this.#subjects = subjects;
    this.#others = others;
  }

  /** @param before what earlier calls have found; null if nothing is searched */
  static async begin(
    warehouse: Pick<Warehouse, 'select'>,
    orgId: string,
    {
      subjects,
      before,
    }: { readonly subjects: readonly Subject[]; readonly before: JoinedResult | undefined },
  ): Promise<JoinedSearch | null> {
    if (before === undefined || subjects.length === 0) return null;
    return new JoinedSearch(before, subjects, await othersOf(warehouse, orgId, subjects));
  }

  /** The forms to search in the next round. */
  next(people: PeopleKeptOut): JoinedForms {
    const values = this.#subjects.flatMap(({ kind, value }) => {
      const pseudonym = people.pseudonymOf(value);
      return kind === 'organization' || pseudonym === undefined ? [] : [{ kind, value, pseudonym }];
    });
    this.#pseudonyms = new Set(values.map(({ pseudonym }) => pseudonym));
    this.#last = new JoinedForms(values, this.#others);
    this.#first ??= this.#last;
    return this.#last;
  }

  /** Words of the last round that are to be replaced as such, so that they do not come back either. */
  get words(): readonly string[] {
    return this.#before.policy === 'replace' ? this.#last.words : [];
  }

  /** What this call and earlier ones have found. Those of another value than the named ones stay as they were. */
  result(isDryRun: boolean): JoinedResult {
    const { policy, found: earlier } = this.#before;
    const kept = earlier
      .filter(({ pseudonym, outcome }) => outcome === 'replaced' || !this.#pseudonyms.has(pseudonym))
      .map((entry) =>
        policy === 'accept' && entry.outcome === 'left' ? { ...entry, outcome: OUTCOMES.accept } : entry,
      );
    const left = this.#last.found.map((entry) => ({ ...entry, outcome: OUTCOMES[policy] }));
    if (policy !== 'replace' || isDryRun) return { policy, found: [...kept, ...left] };
    // What the last round still finds was not replaced, such as a part of an ordinary word.
    const counts = new Map(left.map(({ pseudonym, place, count }) => [`${pseudonym} ${place}`, count]));
    const replaced = (this.#first?.found ?? []).flatMap((entry) => {
      const count = entry.count - (counts.get(`${entry.pseudonym} ${entry.place}`) ?? 0);
      return count > 0 ? [{ ...entry, count, outcome: OUTCOMES.replace }] : [];
    });
    return {
      policy,
      found: [...kept, ...replaced, ...left.map((entry) => ({ ...entry, outcome: OUTCOMES.name }))],
    };
  }
}

/** The IDs and addresses of other people that hold one of the values. */
async function othersOf(
  warehouse: Pick<Warehouse, 'select'>,
  orgId: string,
  subjects: readonly Subject[],
): Promise<string[]> {
  const values = new Set(subjects.map(({ value }) => value.toLowerCase()));
  const rows = await warehouse.select(sql`
    SELECT user_id AS other FROM user_daily WHERE org_id = ${orgId} UNION SELECT user_email FROM user_daily WHERE org_id = ${orgId}
    UNION SELECT user_id FROM tokens_daily_by_user WHERE org_id = ${orgId} UNION SELECT user_email FROM tokens_daily_by_user WHERE org_id = ${orgId}
    UNION SELECT person FROM people WHERE org_id = ${orgId} UNION SELECT manager_email FROM people WHERE org_id = ${orgId}`);
  return rows
    .flatMap(({ other }) => (typeof other === 'string' ? [other] : []))
    .filter((other) => !values.has(other.toLowerCase()))
    .filter((other) => [...values].some((value) => other.toLowerCase().includes(value)));
}

/** A value to search, and what replaces it. */
interface SearchedValue {
  readonly kind: 'user' | 'email';
  readonly value: string;
  readonly pseudonym: string;
}

/** From this length on, an ID is found between letters too: nobody else has an ID that begins or ends with it. */
const UNMISTAKABLE_CHARS = 12;
/** Times that a text may have been percent-encoded. */
const DECODED_MAX = 3;
const PERCENT = /(?:%[\da-f]{2})+/gi;
/** A group of Base64 has four characters, of which the value may begin at any. */
const BASE64_CHARS = 4;
const BASE64_BYTES = 3;
/** Base64 of shorter parts may stand in any text. */
const BASE64_PART_MIN = 6;
const BASE64_RUN = /[A-Za-z\d+/_-]{6,4096}/g;
/** Words that are listed at most; what more there are is only counted. */
const WORDS_MAX = 5_000;

interface Searched extends SearchedValue {
  readonly pattern: RegExp;
  readonly plain: string;
  /** What every Base64 of a text with the value has: one part for each place in a group. */
  readonly encoded: readonly string[];
}

/**
 * Searches texts for known values in joined forms: in any letter case, percent-encoded, as a part of Base64, and joined with other
 * characters. It counts the texts by place, and collects the words.
 */
export class JoinedForms implements TextReader {
  readonly #values: readonly Searched[];
  readonly #others: readonly string[];
  readonly #found = new Map<string, { pseudonym: string; place: string; count: number }>();
  readonly #words = new Set<string>();

  /**
   * @param values an ID that could be an ordinary word is left out
   * @param others IDs and addresses of other people that hold one of the values: they stay
   */
  constructor(values: readonly SearchedValue[], others: readonly string[]) {
    this.#values = values
      .filter(({ kind, value }) => kind === 'email' || !isOrdinary(value))
      .map((each) => {
        const plain = each.value.toLowerCase();
        return { ...each, plain, pattern: patternOf(each), encoded: encodedParts(each.value) };
      });
    this.#others = others.map((other) => other.toLowerCase());
  }

  /** How often each value was found where. */
  get found(): readonly { readonly pseudonym: string; readonly place: string; readonly count: number }[] {
    return [...this.#found.values()];
  }

  /** The words, in lower case, that hold a value and are no ordinary words. */
  get words(): readonly string[] {
    return [...this.#words];
  }

  /** Parts of texts by which a database finds rows that may hold a value in a joined form. */
  get hints(): readonly string[] {
    return ['%', ...this.#values.flatMap(({ encoded }) => encoded)];
  }

  read(text: string, place: string): void {
    const written = text.toLowerCase();
    for (const value of this.#values) {
      if (!this.#holds(text, value, written)) continue;
      const name = `${value.pseudonym} ${place}`;
      const { count } = this.#found.get(name) ?? { count: 0 };
      this.#found.set(name, { pseudonym: value.pseudonym, place, count: count + 1 });
      const words = [...new Set(candidatesIn(text))].filter((word) => this.#holds(word, value));
      // A path holds the word too, and is not to go as a whole.
      for (const word of words)
        if (!words.some((other) => other !== word && word.includes(other)) && this.#words.size < WORDS_MAX)
          this.#words.add(word.toLowerCase());
    }
  }

  #holds(text: string, { plain, pattern, encoded }: Searched, lower = text.toLowerCase()): boolean {
    let written = lower;
    const isWritten = (each: string) => each.includes(plain) && pattern.test(this.#withoutOthers(each));
    for (let round = 0; round <= DECODED_MAX; round += 1) {
      if (isWritten(written)) return true;
      if (!written.includes('%')) break;
      written = written.replace(PERCENT, decoded).toLowerCase();
    }
    if (!encoded.some((part) => text.includes(part))) return false;
    return (text.match(BASE64_RUN) ?? [])
      .filter((run) => encoded.some((part) => run.includes(part)))
      .flatMap((run) => [run, ...run.split('/')].flatMap(plainTextsOf))
      .some((decodedRun) => isWritten(decodedRun.toLowerCase()));
  }

  #withoutOthers(text: string): string {
    return this.#others.reduce((left, other) => left.replaceAll(other, ' '), text);
  }
}

/** `user_1` is not in `user_12`, nor `ada@example.com` in `bada@example.com`. */
function patternOf({ kind, value }: SearchedValue): RegExp {
  const plain = value.toLowerCase().replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const isLong = kind === 'user' && value.length >= UNMISTAKABLE_CHARS;
  const edge = (character = '') =>
    isLong && !/\p{N}/u.test(character) ? '' : isLong ? '\\p{N}' : '[\\p{L}\\p{N}]';
  const [before, after] = [edge(value[0]), edge(value.at(-1))];
  return new RegExp(`${before && `(?<!${before})`}${plain}${after && `(?!${after})`}`, 'u');
}

function decoded(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
}

/** The parts of the Base64 of a text that depend on the value alone, wherever in the text it begins. */
function encodedParts(value: string): string[] {
  const parts: string[] = [];
  for (const spelling of new Set([value, value.toLowerCase()])) {
    for (let offset = 0; offset < BASE64_BYTES; offset += 1) {
      const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(spelling)]);
      const first = Math.ceil((offset * BASE64_CHARS) / BASE64_BYTES);
      const last = Math.floor((bytes.length * BASE64_CHARS) / BASE64_BYTES);
      for (const alphabet of ['base64', 'base64url'] as const)
        parts.push(bytes.toString(alphabet).slice(first, last));
    }
  }
  return [...new Set(parts)].filter((part) => part.length >= BASE64_PART_MIN);
}

/** A run may have characters of the text around it at its beginning. */
function plainTextsOf(run: string): string[] {
  return [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), 'base64').toString('utf8'));
}
