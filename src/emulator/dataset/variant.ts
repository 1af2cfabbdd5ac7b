import { hash, unitOf } from './hash.ts';

/** What makes the answers about one day of one stream differ from the day as it was first generated. */
export interface DayVariant {
  /** Tells variants apart in caches; '' for a day that nothing has changed. */
  readonly key: string;
  /** Nobody was active. */
  readonly empty: boolean;
  /** Users who get other numbers; the last entry that holds a user decides. */
  readonly renumbered: readonly SomeUsers[];
  /** Users of whom nothing is known yet. */
  readonly hidden: SomeUsers | null;
  /** Users who are not active although they would be, and the other way round. */
  readonly withoutUsers: readonly number[];
  readonly withUsers: readonly number[];
  /** Models and languages that do not occur, as bits; their numbers go to others. */
  readonly withoutModels: number;
  readonly withoutLanguages: number;
  /** Sessions created through the API by user, besides those of the day as it was generated. */
  readonly createdSessions?: ReadonlyMap<number, number>;
}

/** A share of the users, from 0 to 1. The salt, never 0, decides which ones. */
export interface SomeUsers {
  readonly salt: number;
  readonly share: number;
}

/** A day that nothing has changed. */
export const ORIGINAL: DayVariant = {
  key: '',
  empty: false,
  renumbered: [],
  hidden: null,
  withoutUsers: [],
  withUsers: [],
  withoutModels: 0,
  withoutLanguages: 0,
};

/** One way in which a day is changed; see {@link DayVariant}. */
export type DayChange = Partial<Omit<DayVariant, 'renumbered'>> & {
  readonly key: string;
  readonly renumbered?: SomeUsers;
};

/** A day with all changes applied, in their order. */
export function variantWith(changes: readonly DayChange[]): DayVariant {
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

/** The later change of a user decides. */
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
