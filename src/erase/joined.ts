import Type, { type Static } from 'typebox';
import { sql } from '../../schema/query.ts';
import type { Subject } from '../erased/index.ts';
import type { Warehouse } from '../port/index.ts';
import { type ErasedPeople, JoinedForms } from '../privacy/index.ts';

/** What an erasure does with joined forms: name them, replace the words that hold them, or accept them. */
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

/** The search for the joined forms of one person, over the rounds of an erasure. */
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
  next(people: ErasedPeople): JoinedForms {
    const values = this.#subjects.flatMap(({ kind, value }) => {
      const pseudonym = people.pseudonymOf(value);
      return kind === 'organization' || pseudonym === undefined ? [] : [{ kind, value, pseudonym }];
    });
    this.#pseudonyms = new Set(values.map(({ pseudonym }) => pseudonym));
    this.#last = new JoinedForms(values, this.#others);
    this.#first ??= this.#last;
    return this.#last;
  }

  /** Words of the last round that are to be erased as such, so that they do not come back either. */
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
