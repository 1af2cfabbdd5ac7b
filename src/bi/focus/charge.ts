import type { UtcDay } from '../../core/day.ts';
import { compareText } from '../../core/json.ts';
import type { Gate } from '../../privacy/index.ts';
import type { CorrectionReason } from './columns.ts';

/** The unit in which tokens are priced. */
export const TOKENS_PER_UNIT = 1_000_000;

/** Who consumed, and with which model. */
export interface Subject {
  /** Null where nothing is kept of single users: then the model alone has consumed. */
  readonly userId: string | null;
  readonly modelId: string;
}

/** Who pays: the team of the user on the day, and its cost center. */
export interface Allocation {
  readonly team: string | null;
  readonly costCenter: string | null;
}

/** The part of a day's total that no user and model has. */
export const UNALLOCATED: Allocation = { team: null, costCenter: null };

/** Billable tokens of a day, and what they cost. A row of a file without what all rows have in common. */
export interface Charge extends Allocation {
  readonly day: UtcDay;
  /** Null for the tokens of the day's total that no user and model has. */
  readonly subject: Subject | null;
  readonly modelTier: string | null;
  /** Billable tokens; negative where something is taken back. */
  readonly tokens: number;
  /** The price of a million billable tokens. */
  readonly unitPrice: number;
  readonly cost: number;
  /** Null for a charge that corrects nothing. */
  readonly reason: CorrectionReason | null;
}

/** The cost of billable tokens. Readers of a file multiply its quantity by its price in this order. */
export function costOf(tokens: number, unitPrice: number): number {
  return (tokens / TOKENS_PER_UNIT) * unitPrice;
}

/** Identifies what a charge is for, over all files of a month. */
export function keyOf({ day, subject }: Pick<Charge, 'day' | 'subject'>): string {
  return JSON.stringify(subject === null ? [day] : [day, subject.userId, subject.modelId]);
}

/**
 * True for numbers that differ only by rounding errors.
 * @param scale the largest of the numbers that they were computed from, where that is neither of them.
 */
export function isSame(a: number, b: number, scale = 0): boolean {
  return Math.abs(a - b) <= Math.max(scale, Math.abs(a), Math.abs(b)) * RELATIVE_ERROR_MAX;
}

/** Far above the rounding errors of a few additions, and far below a token in a billion. */
const RELATIVE_ERROR_MAX = 1e-12;

/** A charge without who consumed it, as one that was computed where nothing is kept of single users. */
export function withoutUser(charge: Charge): Charge {
  const { subject } = charge;
  return subject === null ? charge : { ...charge, subject: { ...subject, userId: null }, ...UNALLOCATED };
}

/** A charge of a file as it would be stored now: with the pseudonym of whoever was erased or has one since. */
export function throughGate(charge: Charge, gate: Gate): Charge {
  const [userId, team, costCenter] = [charge.subject?.userId, charge.team, charge.costCenter];
  const subject = charge.subject && {
    ...charge.subject,
    userId: userId == null ? null : gate.userId(userId),
  };
  return { ...charge, subject, team: team && gate.key(team), costCenter: costCenter && gate.key(costCenter) };
}

/** Orders charges by day, user and model by their characters, the same on every machine. Tokens without a user come last. */
export function compareCharges(a: Charge, b: Charge): number {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1;
  if (a.subject === null || b.subject === null)
    return Number(a.subject === null) - Number(b.subject === null);
  return (
    compareText(a.subject.userId ?? '', b.subject.userId ?? '') ||
    compareText(a.subject.modelId, b.subject.modelId)
  );
}

/** A number of charges, and what they add up to. */
export interface Total {
  readonly rows: number;
  readonly billable_tokens: number;
  readonly cost: number;
}

/** Adds up charges while they pass by. */
export class Totals {
  #all: Total = NOTHING;
  #unattributed: Total = NOTHING;
  #withTeam = 0;
  readonly #byReason = new Map<CorrectionReason, Total>();

  add(charge: Charge): void {
    this.#all = plus(this.#all, charge);
    if (charge.subject === null) this.#unattributed = plus(this.#unattributed, charge);
    if (charge.team !== null) this.#withTeam += 1;
    const { reason } = charge;
    if (reason !== null) this.#byReason.set(reason, plus(this.#byReason.get(reason) ?? NOTHING, charge));
  }

  get all(): Total {
    return this.#all;
  }

  /** What no user and model has. */
  get unattributed(): Total {
    return this.#unattributed;
  }

  /** True if a charge belongs to a team. */
  get hasTeams(): boolean {
    return this.#withTeam > 0;
  }

  /** The corrections, by their reason. */
  get byReason(): Readonly<Record<CorrectionReason, Total>> {
    const of = (reason: CorrectionReason) => this.#byReason.get(reason) ?? NOTHING;
    return { restated: of('restated'), repriced: of('repriced'), reassigned: of('reassigned') };
  }
}

const NOTHING: Total = { rows: 0, billable_tokens: 0, cost: 0 };

function plus({ rows, billable_tokens, cost }: Total, charge: Charge): Total {
  return { rows: rows + 1, billable_tokens: billable_tokens + charge.tokens, cost: cost + charge.cost };
}
