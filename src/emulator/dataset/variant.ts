/** What makes the answers about one day of one stream differ from the day as it was first generated. */
export interface DayVariant {
  /** Tells variants apart in caches; '' for a day that nothing has changed. */
  readonly key: string;
  /** Nobody was active. */
  readonly empty: boolean;
  /** Other numbers: a `share` of the users, chosen by `salt`, gets them. */
  readonly renumbered: readonly { readonly salt: number; readonly share: number }[];
  /** Users who are not active although they would be, and the other way round. */
  readonly withoutUsers: readonly number[];
  readonly withUsers: readonly number[];
  /** Models and languages that do not occur, as bits; their numbers go to others. */
  readonly withoutModels: number;
  readonly withoutLanguages: number;
}

/** A day that nothing has changed. */
export const ORIGINAL: DayVariant = {
  key: '',
  empty: false,
  renumbered: [],
  withoutUsers: [],
  withUsers: [],
  withoutModels: 0,
  withoutLanguages: 0,
};
