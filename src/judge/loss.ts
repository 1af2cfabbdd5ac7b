/** The rules by which a loss is doubted, see `RULES`. */
export const LOSS_RULES = ['loss-of-all', 'loss-of-most', 'loss-of-users'] as const;

/** One of {@link LOSS_RULES}. */
export type LossRule = (typeof LOSS_RULES)[number];

/** From so many stored rows on, losing more than half of them is doubted. */
const MOST_OF = 20;

/** What an answer would take away. */
export interface Loss {
  readonly rule: LossRule;
  /** Names of the stored rows that are missing: positions among the stored ones in key order, or report ids. */
  readonly missing: readonly number[] | readonly string[];
  /** Stored rows with activity. */
  readonly of: number;
}

/** An answer beside what is stored. Rows are those with activity; of `users` the users, of readiness the reports. */
export interface Comparison {
  readonly missing: readonly number[] | readonly string[];
  readonly stored: number;
  /** Records that were set aside in quarantine: they are there, though not as rows. */
  readonly setAside: number;
  /** For `users` only: the users of the answer, and those that `daily_active_users` says were active. */
  readonly users?: { readonly answered: number; readonly active: number | null };
}

/**
 * What of the stored rows an answer would remove, or overwrite with rows without activity, if that is too much to be
 * believed at once: all of them, more than half of twenty or more, or any user while the answer has fewer users than were
 * active. Null where it is not.
 */
export function lossOf({ missing, stored, setAside, users }: Comparison): Loss | null {
  const gone = missing.length - setAside;
  if (gone <= 0) return null;
  const rule = ruleOf(gone, stored, users);
  return rule === null ? null : { rule, missing, of: stored };
}

function ruleOf(gone: number, stored: number, users: Comparison['users']): LossRule | null {
  if (gone >= stored) return 'loss-of-all';
  if (stored >= MOST_OF && gone > stored / 2) return 'loss-of-most';
  const isShort = users !== undefined && users.active !== null && users.answered < users.active;
  return isShort ? 'loss-of-users' : null;
}
