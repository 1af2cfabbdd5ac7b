import { dayOf, isDay, type UtcDay } from '../core/day.ts';
import { canonicalJson, isObject, parseJson } from '../core/json.ts';

/** The rules that make a loss doubtful, see `RULES`. */
export const LOSS_RULES = [
  'loss-of-all',
  'loss-of-most',
  'loss-of-users',
  'leaver',
  'loss-of-reports',
] as const;

/** One of {@link LOSS_RULES}. */
type LossRule = (typeof LOSS_RULES)[number];

/** So many users of a day, or so large a share of them, may leave without a person's attention. */
const LEAVERS_MAX = 2;
const LEAVERS_SHARE = 0.02;

/** With this many stored rows or more, losing more than half of them is doubted. */
const MOST_OF = 20;

/** The rows that storing an answer would remove. */
export interface Loss {
  readonly rule: LossRule;
  /** The stored rows that are missing: their positions in key order. */
  readonly missing: readonly number[];
  /** Stored rows with activity. */
  readonly of: number;
}

/** The answer for a day compared with what is stored. Only rows with activity count; for `users` they are users. */
export interface Comparison {
  readonly missing: readonly number[];
  readonly stored: number;
  /** Records in quarantine: the answer has them, though not as rows. */
  readonly setAside: number;
  /** For `users` only: the users in the answer, those of them who are not stored, and `daily_active_users`. */
  readonly users?: { readonly answered: number; readonly added: number; readonly active: number | null };
}

/**
 * The loss that an answer would cause, if it is too large to believe at once: all stored rows, more than half of
 * twenty or more, or any user while the answer has fewer users than `daily_active_users`. If only few users are gone and
 * nobody came, they have probably left. A row that would lose its activity counts as removed. Null if the answer can be believed.
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
  if (users === undefined || users.active === null || users.answered >= users.active) return null;
  return areLeavers({ gone, stored, added: users.added }) ? 'leaver' : 'loss-of-users';
}

/** True for users who have left: few of a day are gone, not all of them, and nobody came. */
export function areLeavers({
  gone,
  stored,
  added,
}: {
  readonly gone: number;
  readonly stored: number;
  readonly added: number;
}): boolean {
  return gone > 0 && gone < stored && added === 0 && gone <= Math.max(LEAVERS_MAX, stored * LEAVERS_SHARE);
}

/** True for a doubted unit that only waits until users have been gone often enough: it needs nobody's attention. */
export function awaitsLeavers({
  doubt,
  doubtedAt,
}: {
  readonly doubt: string | null;
  readonly doubtedAt: string | null;
}): boolean {
  return parseDoubt(doubt, doubtedAt)?.rule === 'leaver';
}

/** A loss is accepted this long after it was first doubted, at the earliest. */
export const ACCEPT_AFTER_MS = 60 * 60 * 60 * 1000;
/** Runs on this many UTC days must have found the loss by then. */
export const ACCEPT_LOOKS = 3;

/** A loss that is not believed. The ledger's column `doubt` holds it as JSON. */
interface Doubt {
  readonly rule: LossRule;
  /** How many stored rows with activity are missing, and how many are stored. */
  readonly rows: number;
  readonly of: number;
  /** The UTC days on which runs found it. */
  readonly seenOn: readonly UtcDay[];
  /**
   * The missing rows. For readiness: the report IDs. For days: one bit per stored row in key order, in base64;
   * valid while the stored rows stay the same.
   */
  readonly missing: readonly string[] | string;
  /** For readiness: when those reports were first missed that were first missed after the others, as ISO instants. */
  readonly later?: Readonly<Record<string, string>>;
}

/** A doubt in the ledger. `since` is an ISO instant. */
export interface StandingDoubt extends Doubt {
  readonly since: string;
}

/** The decision about a loss: accept it or doubt it. */
type Weighed = { readonly verdict: 'accept' } | { readonly verdict: 'doubt'; readonly doubt: StandingDoubt };

/** The rule by which a loss is weighed. */
export interface WeighRule {
  readonly now: Date;
  /** Accept a loss that was doubted when the run began and is no larger now. */
  readonly acceptsLoss: boolean;
}

/**
 * Weighs a loss against the doubt in the ledger. The loss is accepted if runs on {@link ACCEPT_LOOKS} days found it,
 * the first of them {@link ACCEPT_AFTER_MS} ago, and everything that is missing now was missing each time. Otherwise
 * it is doubted; a row that is newly missing starts the doubt again.
 */
export function weighLoss(standing: StandingDoubt | null, loss: Loss, rule: WeighRule): Weighed {
  const today = dayOf(rule.now);
  const missing = missingOf(loss);
  const fresh = { rule: loss.rule, rows: loss.missing.length, of: loss.of, missing };
  const isKnown = standing !== null && isWithin({ missing, of: loss.of }, standing);
  if (isKnown && (rule.acceptsLoss || isDue(standing, rule.now))) return { verdict: 'accept' };
  // A doubt from the future, set while a clock was ahead, would last until that time.
  if (!isKnown || Date.parse(standing.since) > rule.now.getTime())
    return { verdict: 'doubt', doubt: { ...fresh, seenOn: [today], since: rule.now.toISOString() } };
  const seenOn = seenAlso(standing, today);
  return { verdict: 'doubt', doubt: { ...fresh, seenOn, since: standing.since } };
}

/** True if the next run that finds the same loss accepts it. Then only an answer for the day alone decides. */
export function isDue(standing: StandingDoubt, now: Date): boolean {
  const isOld = now.getTime() - Date.parse(standing.since) >= ACCEPT_AFTER_MS;
  return isOld && seenAlso(standing, dayOf(now)).length >= ACCEPT_LOOKS;
}

/** The days on which a loss was found, with today; a day after it was noted while a clock was ahead. */
export function seenAlso({ seenOn }: Pick<Doubt, 'seenOn'>, today: UtcDay): readonly UtcDay[] {
  return [...seenOn.filter((day) => day < today), today];
}

function missingOf({ missing }: Loss): string {
  const bits = Buffer.alloc(Math.ceil((Math.max(...missing) + 1) / 8));
  for (const position of missing) bits[position >> 3] = (bits[position >> 3] ?? 0) | (1 << (position & 7));
  return bits.toString('base64');
}

/**
 * True if everything that is missing now was missing then. Positions can be compared only between equal numbers of
 * rows.
 */
function isWithin(
  now: { readonly missing: string; readonly of: number },
  then: Pick<Doubt, 'missing' | 'of'>,
): boolean {
  if (typeof then.missing !== 'string' || now.of !== then.of) return false;
  const before = Buffer.from(then.missing, 'base64');
  return Buffer.from(now.missing, 'base64').every((byte, index) => (byte & ~(before[index] ?? 0)) === 0);
}

/** The doubt in the ledger's columns; null if there is none, or if someone edited it into something else. */
export function parseDoubt(text: string | null, since: string | null): StandingDoubt | null {
  const value = parseJson(text ?? 'null');
  if (!isObject(value) || since === null) return null;
  const { rule, rows, of, seenOn, missing, later } = value;
  const known = LOSS_RULES.find((name) => name === rule);
  if (known === undefined || typeof rows !== 'number' || typeof of !== 'number') return null;
  if (!Array.isArray(seenOn)) return null;
  const named = Array.isArray(missing) ? missing.filter((name) => typeof name === 'string') : missing;
  if (typeof named !== 'string' && !Array.isArray(named)) return null;
  const doubt = { rule: known, rows, of, seenOn: seenOn.filter(isDay), missing: named, since };
  return isObject(later) ? { ...doubt, later: instantsIn(later) } : doubt;
}

function instantsIn(later: object): Record<string, string> {
  const isInstant = (at: unknown) => typeof at === 'string' && !Number.isNaN(Date.parse(at));
  return Object.fromEntries(Object.entries(later).filter(([, at]) => isInstant(at)));
}

/** The text of a doubt, as the ledger stores it. */
export function doubtText({ rule, rows, of, seenOn, missing, later }: Doubt): string {
  return canonicalJson({ rule, rows, of, seenOn, missing, ...(later !== undefined && { later }) });
}
