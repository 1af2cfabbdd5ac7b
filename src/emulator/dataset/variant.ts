import { hash, unitOf } from './pseudo-random.ts';

/** The changes to one day of one stream since it was first generated. */
export interface DayVariant {
  /** Distinguishes variants in caches; '' for an unchanged day. */
  readonly key: string;
  /** True if no user was active. */
  readonly empty: boolean;
  /** Users who get different numbers. If several entries include a user, the last one applies. */
  readonly renumbered: readonly SomeUsers[];
  /** Users whose data have not arrived yet. */
  readonly hidden: SomeUsers | null;
  /** Users removed from the active ones, and users added to them. */
  readonly withoutUsers: readonly number[];
  readonly withUsers: readonly number[];
  /** Bits of the models and languages that do not occur. Others get their numbers. */
  readonly withoutModels: number;
  readonly withoutLanguages: number;
  /** Sessions by user that were created through the API, in addition to the generated ones. */
  readonly createdSessions?: ReadonlyMap<number, number>;
}

/** A share of the users, from 0 to 1. The salt, which is never 0, selects the users. */
interface SomeUsers {
  readonly salt: number;
  readonly share: number;
}

/** An unchanged day. */
const ORIGINAL: DayVariant = {
  key: '',
  empty: false,
  renumbered: [],
  hidden: null,
  withoutUsers: [],
  withUsers: [],
  withoutModels: 0,
  withoutLanguages: 0,
};

/** One change to a day; see {@link DayVariant}. */
export type DayChange = Partial<Omit<DayVariant, 'renumbered'>> & {
  readonly key: string;
  readonly renumbered?: SomeUsers;
};

/** Applies all changes to a day, in their order. */
export function applyChanges(changes: readonly DayChange[]): DayVariant {
  return changes.reduce<DayVariant>(
    (day, change) => ({
      key: `${day.key} ${change.key}`,
      empty: day.empty || change.empty === true,
      renumbered: change.renumbered === undefined ? day.renumbered : [...day.renumbered, change.renumbered],
      hidden: change.hidden ?? day.hidden,
      withoutUsers: merge(day.withoutUsers, change.withoutUsers, change.withUsers),
      withUsers: merge(day.withUsers, change.withUsers, change.withoutUsers),
      withoutModels: day.withoutModels | (change.withoutModels ?? 0),
      withoutLanguages: day.withoutLanguages | (change.withoutLanguages ?? 0),
    }),
    ORIGINAL,
  );
}

/** Combines lists of users. If a user was added and removed, the last change applies. */
function merge(
  before: readonly number[],
  added: readonly number[] = [],
  taken: readonly number[] = [],
): number[] {
  return [...before.filter((user) => !taken.includes(user)), ...added];
}

/** True when the user belongs to the share. */
export function isAmong(some: SomeUsers, seed: number, user: number): boolean {
  return unitOf(hash(seed, user, ASPECT.affected, some.salt)) < some.share;
}

const ASPECT = { affected: 21 } as const;
