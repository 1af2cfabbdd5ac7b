/** The rules that make a loss doubtful, see `RULES`. */
export const LOSS_RULES = ['loss-of-all', 'loss-of-most', 'loss-of-users'] as const;

/** One of {@link LOSS_RULES}. */
export type LossRule = (typeof LOSS_RULES)[number];

/** With this many stored rows or more, losing more than half of them is doubted. */
const MOST_OF = 20;

/** The rows that storing an answer would remove. */
export interface Loss {
  readonly rule: LossRule;
  /** The stored rows that are missing: their positions in key order, or report IDs. */
  readonly missing: readonly number[] | readonly string[];
  /** Stored rows with activity. */
  readonly of: number;
}

/**
 * An answer compared with what is stored. Only rows with activity count; for `users` they are users, for readiness
 * reports.
 */
export interface Comparison {
  readonly missing: readonly number[] | readonly string[];
  readonly stored: number;
  /** Records in quarantine: the answer has them, though not as rows. */
  readonly setAside: number;
  /** For `users` only: the users in the answer, and `daily_active_users`. */
  readonly users?: { readonly answered: number; readonly active: number | null };
}

/**
 * The loss that an answer would cause, if it is too large to believe at once: all stored rows, more than half of
 * twenty or more, or any user while the answer has fewer users than `daily_active_users`. A row that would lose its
 * activity counts as removed. Null if the answer can be believed.
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
