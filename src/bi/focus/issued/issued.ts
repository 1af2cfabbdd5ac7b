import { type Charge, isSame, keyOf } from '../charge.ts';

/** What was issued for one user, model and day under one team and cost center, over all files. */
export interface IssuedCharge extends Charge {
  /** The largest numbers that were added up. Their rounding errors are still in the sums. */
  readonly largest: Amounts;
}

/** Tokens and a cost. */
export type Amounts = Pick<Charge, 'tokens' | 'cost'>;

/** What was issued for a month over all files: by day, user and model, and then by team and cost center. */
export class Issued {
  readonly #byKey = new Map<string, Map<string, IssuedCharge>>();

  /** Adds a charge of a file. The files come in the order in which they were issued. */
  add(charge: Charge): void {
    const key = keyOf(charge);
    const byAllocation = this.#byKey.get(key) ?? new Map<string, IssuedCharge>();
    this.#byKey.set(key, byAllocation);
    const allocation = JSON.stringify([charge.team, charge.costCenter]);
    byAllocation.set(allocation, added(byAllocation.get(allocation), charge));
  }

  /** Returns what was issued for a key, and forgets it. What was taken back completely is not returned. */
  take(key: string): IssuedCharge[] {
    const byAllocation = this.#byKey.get(key);
    this.#byKey.delete(key);
    return [...(byAllocation?.values() ?? [])].filter(({ tokens, cost }) => tokens !== 0 || cost !== 0);
  }

  /** The keys that were not taken. */
  keys(): string[] {
    return [...this.#byKey.keys()];
  }
}

/** Adds a charge to a sum. The price is that of the later charge. A sum that is only a rounding error is 0. */
function added(before: IssuedCharge | undefined, charge: Charge): IssuedCharge {
  const largest = largestOf(charge, ...(before === undefined ? [] : [before.largest]));
  const plus = (a: number, b: number, scale: number) => (isSame(a, -b, scale) ? 0 : a + b);
  return {
    ...charge,
    tokens: plus(before?.tokens ?? 0, charge.tokens, largest.tokens),
    cost: plus(before?.cost ?? 0, charge.cost, largest.cost),
    largest,
  };
}

/** The largest tokens and the largest cost, without their signs. */
export function largestOf(...amounts: readonly Amounts[]): Amounts {
  return {
    tokens: Math.max(...amounts.map(({ tokens }) => Math.abs(tokens))),
    cost: Math.max(...amounts.map(({ cost }) => Math.abs(cost))),
  };
}

/** The sum of tokens and of costs. */
export function sumOf(amounts: readonly Amounts[]): Amounts {
  return amounts.reduce((sum, { tokens, cost }) => ({ tokens: sum.tokens + tokens, cost: sum.cost + cost }), {
    tokens: 0,
    cost: 0,
  });
}
