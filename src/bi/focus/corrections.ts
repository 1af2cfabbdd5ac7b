import { type Allocation, type Charge, compareCharges, costOf, isSame, keyOf } from './charge.ts';
import type { CorrectionReason } from './columns.ts';
import { type Issued, type IssuedCharge, largestOf, sumOf } from './issued/issued.ts';

/**
 * Corrects what was issued for one user, model and day, so that all files together add up to `now`; null if nothing is
 * left to charge. Each correction has one reason. If several changed, they are corrected in this order: the allocation,
 * the quantity at the issued price, and the price of the present quantity.
 */
export function correct(issued: readonly IssuedCharge[], now: Charge | null): Charge[] {
  if (now === null) return issued.map((charge) => takenBack(charge, 'restated'));
  const moved = issued.filter((charge) => !isSameAllocation(charge, now));
  const moves = moved.flatMap((charge) => [
    takenBack(charge, 'reassigned'),
    { ...charge, ...allocationOf(now), reason: 'reassigned' as const },
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

function isSameAllocation(a: Allocation, b: Allocation): boolean {
  return a.team === b.team && a.costCenter === b.costCenter;
}

function allocationOf({ team, costCenter }: Allocation): Allocation {
  return { team, costCenter };
}

/** Corrects everything that was issued for a month, in the order of its charges. Empties `issued`. */
export async function correctMonth(
  issued: Issued,
  charges: AsyncIterable<readonly Charge[]>,
): Promise<Charge[]> {
  const corrections: Charge[] = [];
  for await (const day of charges) {
    for (const charge of day) corrections.push(...correct(issued.take(keyOf(charge)), charge));
  }
  for (const key of issued.keys()) corrections.push(...correct(issued.take(key), null));
  return corrections.toSorted(compareCharges);
}
