import { dayOf, isDay, type UtcDay } from '../core/day.ts';
import { canonicalJson, isObject } from '../core/json.ts';
import type { Loss, LossRule } from './loss.ts';
import { LOSS_RULES } from './loss.ts';

/** A loss is accepted at the earliest so long after it was first doubted. */
export const ACCEPT_AFTER_MS = 60 * 60 * 60 * 1000;
/** Runs on so many different UTC days must have found it by then. */
export const ACCEPT_LOOKS = 3;

/** A loss that is doubted. It is the column `doubt` of the ledger, as JSON. */
export interface Doubt {
  readonly rule: LossRule;
  /** Rows with activity that are missing, of so many that are stored. */
  readonly rows: number;
  readonly of: number;
  /** UTC days on which runs found it. */
  readonly seenOn: readonly UtcDay[];
  /**
   * Which rows are missing: report ids; or one bit for each stored row in key order, in base64, which holds as long as
   * the stored rows do.
   */
  readonly missing: readonly string[] | string;
}

/** A doubt on record. `since` is an ISO instant. */
export interface StandingDoubt extends Doubt {
  readonly since: string;
}

/** What becomes of a loss: accepted, or doubted (still, or from now on). */
export type Weighed =
  | { readonly verdict: 'accept' }
  | { readonly verdict: 'doubt'; readonly doubt: StandingDoubt };

/** By what a loss is weighed. */
export interface WeighRule {
  readonly now: Date;
  /** Accept what was doubted when the run began, if it is no larger now. */
  readonly acceptsLoss: boolean;
}

/**
 * Weighs a loss against the doubt on record. It is accepted when it was found by runs on {@link ACCEPT_LOOKS} different
 * days, the first of them {@link ACCEPT_AFTER_MS} ago, and all that is missing now was missing each time; what was not
 * starts the clock again.
 */
export function weighLoss(standing: StandingDoubt | null, loss: Loss, rule: WeighRule): Weighed {
  const today = dayOf(rule.now);
  const missing = missingOf(loss);
  const fresh = { rule: loss.rule, rows: loss.missing.length, of: loss.of, missing };
  const isKnown = standing !== null && isWithin({ missing, of: loss.of }, standing);
  if (isKnown && (rule.acceptsLoss || isDue(standing, rule.now))) return { verdict: 'accept' };
  // What a clock that was ahead has doubted would be doubted until that time has come.
  if (!isKnown || Date.parse(standing.since) > rule.now.getTime())
    return { verdict: 'doubt', doubt: { ...fresh, seenOn: [today], since: rule.now.toISOString() } };
  const seenOn = seenAlso(standing, today);
  return { verdict: 'doubt', doubt: { ...fresh, seenOn, since: standing.since } };
}

/** True when one more look that finds the same loss would accept it: then only the day's own answer will do. */
export function isDue(standing: StandingDoubt, now: Date): boolean {
  const isOld = now.getTime() - Date.parse(standing.since) >= ACCEPT_AFTER_MS;
  return isOld && seenAlso(standing, dayOf(now)).length >= ACCEPT_LOOKS;
}

function seenAlso({ seenOn }: Doubt, today: UtcDay): readonly UtcDay[] {
  return seenOn.includes(today) ? seenOn : [...seenOn, today];
}

function missingOf({ missing }: Loss): Doubt['missing'] {
  if (missing.every((name) => typeof name === 'string')) return missing;
  const bits = Buffer.alloc(Math.ceil((Math.max(...missing) + 1) / 8));
  for (const position of missing) bits[position >> 3] = (bits[position >> 3] ?? 0) | (1 << (position & 7));
  return bits.toString('base64');
}

/** True when all that is missing now was missing then. Positions mean the same only among as many stored rows. */
function isWithin(now: Pick<Doubt, 'missing' | 'of'>, then: Pick<Doubt, 'missing' | 'of'>): boolean {
  if (typeof now.missing !== 'string') {
    const known = new Set(typeof then.missing === 'string' ? [] : then.missing);
    return now.missing.every((name) => known.has(name));
  }
  if (typeof then.missing !== 'string' || now.of !== then.of) return false;
  const before = Buffer.from(then.missing, 'base64');
  return Buffer.from(now.missing, 'base64').every((byte, index) => (byte & ~(before[index] ?? 0)) === 0);
}

/** The doubt that the ledger's columns hold; null without one, or where it was edited into something else. */
export function parseDoubt(text: string | null, since: string | null): StandingDoubt | null {
  if (text === null || since === null) return null;
  const value = parsed(text);
  if (!isObject(value)) return null;
  const { rule, rows, of, seenOn, missing } = value;
  const known = LOSS_RULES.find((name) => name === rule);
  if (known === undefined || typeof rows !== 'number' || typeof of !== 'number') return null;
  if (!Array.isArray(seenOn)) return null;
  const named = Array.isArray(missing) ? missing.filter((name) => typeof name === 'string') : missing;
  if (typeof named !== 'string' && !Array.isArray(named)) return null;
  return { rule: known, rows, of, seenOn: seenOn.filter(isDay), missing: named, since };
}

/** The text of a doubt for the ledger. */
export function doubtText({ rule, rows, of, seenOn, missing }: Doubt): string {
  return canonicalJson({ rule, rows, of, seenOn, missing });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
