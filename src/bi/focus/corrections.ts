import type { UtcDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { type Charge, compareCharges, costOf, isSame, keyOf } from './charge.ts';
import { shortened } from './charges.ts';
import type { CorrectionReason } from './columns.ts';

/**
 * Corrects what was issued for one user, model and day, so that all files together add up to `now`; null if nothing is
 * left to charge. Each correction has one reason. If several changed, they are corrected in this order: the allocation,
 * the quantity at the issued price, and the price of the present quantity.
 */
function correct(issued: readonly IssuedCharge[], now: Charge | null): Charge[] {
  if (now === null) return issued.map((charge) => takenBack(charge, 'restated'));
  const moved = issued.filter(({ team, costCenter }) => team !== now.team || costCenter !== now.costCenter);
  const moves = moved.flatMap((charge) => [
    takenBack(charge, 'reassigned'),
    { ...charge, team: now.team, costCenter: now.costCenter, reason: 'reassigned' as const },
  ]);
  return [...moves, ...restate(issued, now)].filter(({ tokens, cost }) => tokens !== 0 || cost !== 0);
}

function restate(issued: readonly IssuedCharge[], now: Charge): Charge[] {
  const before = sumOf(issued);
  const unitPrice = issued.at(-1)?.unitPrice ?? now.unitPrice;
  const largest = largestOf(now, ...issued.map((charge) => charge.largest));
  const isRestated = !isSame(now.tokens, before.tokens, largest.tokens);
  const tokens = isRestated ? now.tokens - before.tokens : 0;
  const isRepriced = !isSame(now.cost, before.cost + costOf(tokens, unitPrice), largest.cost);
  if (!isRestated && !isRepriced) return [];
  // Where both changed, the first row is at the issued price. Where only the quantity did, its cost ends all rounding errors.
  const restatedCost = isRepriced ? costOf(tokens, unitPrice) : now.cost - before.cost;
  const restated: Charge = { ...now, tokens, unitPrice, cost: restatedCost, reason: 'restated' };
  const repriced: Charge = {
    ...now,
    tokens: 0,
    cost: now.cost - before.cost - restatedCost,
    reason: 'repriced',
  };
  return [...(isRestated ? [restated] : []), ...(isRepriced ? [repriced] : [])];
}

function takenBack(charge: Charge, reason: CorrectionReason): Charge {
  return { ...charge, tokens: -charge.tokens, cost: -charge.cost, reason };
}

/**
 * Corrects everything that was issued for a month, in the order of its charges. Empties `issued`.
 * @param missing the days that are not stored
 * @throws {UsageError} if charges of such a day were issued: nothing is known of them now, so they are not to be taken back
 */
export async function correctMonth(
  issued: Issued,
  charges: AsyncIterable<readonly Charge[]>,
  missing: readonly UtcDay[],
): Promise<Charge[]> {
  const corrections: Charge[] = [];
  for await (const day of charges) {
    for (const charge of day) corrections.push(...correct(issued.take(keyOf(charge)), charge));
  }
  const gone = issued.keys().flatMap((key) => issued.take(key));
  const holes = missing.filter((hole) => gone.some(({ day }) => day === hole));
  if (holes.length > 0) {
    throw new UsageError(`charges of days that are not stored were issued: ${shortened(holes)}`, {
      hint: 'pull these days first, with daywalk run or daywalk backfill; a correction would take their charges back',
    });
  }
  corrections.push(...correct(gone, null));
  return corrections.toSorted(compareCharges);
}

/** What was issued for one user, model and day under one team and cost center, over all files. */
interface IssuedCharge extends Charge {
  /**
   * The largest numbers that were added up for the user, model and day, under any team. Their rounding errors are still in
   * the sums, and move with them to another team.
   */
  readonly largest: Amounts;
}

/** Tokens and a cost. */
type Amounts = Pick<Charge, 'tokens' | 'cost'>;

/** What was issued for one user, model and day: the sum for each team and cost center. */
interface IssuedKey {
  readonly largest: Amounts;
  readonly byAllocation: Map<string, Charge>;
}

/** What was issued for a month over all files: by day, user and model, and then by team and cost center. */
export class Issued {
  readonly #byKey = new Map<string, IssuedKey>();

  /** Adds a charge of a file. The files come in the order in which they were issued. */
  add(charge: Charge): void {
    const key = keyOf(charge);
    const before = this.#byKey.get(key);
    const largest = largestOf(charge, ...(before === undefined ? [] : [before.largest]));
    const byAllocation = before?.byAllocation ?? new Map<string, Charge>();
    this.#byKey.set(key, { largest, byAllocation });
    const allocation = JSON.stringify([charge.team, charge.costCenter]);
    byAllocation.set(allocation, added(byAllocation.get(allocation), charge));
  }

  /** Returns what was issued for a key, and forgets it. What was taken back completely is not returned. */
  take(key: string): IssuedCharge[] {
    const issued = this.#byKey.get(key);
    this.#byKey.delete(key);
    if (issued === undefined) return [];
    const { largest, byAllocation } = issued;
    return [...byAllocation.values()]
      .filter(({ tokens, cost }) => !isSame(tokens, 0, largest.tokens) || !isSame(cost, 0, largest.cost))
      .map((charge) => ({ ...charge, largest }));
  }

  /** The keys that were not taken. */
  keys(): string[] {
    return [...this.#byKey.keys()];
  }
}

/** Adds a charge to a sum. The price is that of the later charge. */
function added(before: Charge | undefined, charge: Charge): Charge {
  const { tokens = 0, cost = 0 } = before ?? {};
  return { ...charge, tokens: tokens + charge.tokens, cost: cost + charge.cost };
}

/** The largest tokens and the largest cost, without their signs. */
function largestOf(...amounts: readonly Amounts[]): Amounts {
  return {
    tokens: Math.max(...amounts.map(({ tokens }) => Math.abs(tokens))),
    cost: Math.max(...amounts.map(({ cost }) => Math.abs(cost))),
  };
}

/** The sum of tokens and of costs. */
function sumOf(amounts: readonly Amounts[]): Amounts {
  return amounts.reduce((sum, { tokens, cost }) => ({ tokens: sum.tokens + tokens, cost: sum.cost + cost }), {
    tokens: 0,
    cost: 0,
  });
}
