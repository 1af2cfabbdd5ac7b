import { type Charge, isSame, keyOf } from '../charge.ts';

/** What was issued for one user, model and day under one team and cost center, over all files. */
export interface IssuedCharge extends Charge {
  /**
   * The largest numbers that were added up for the user, model and day, under any team. Their rounding errors are still in
   * the sums, and move with them to another team.
   */
  readonly largest: Amounts;
}

/** Tokens and a cost. */
export type Amounts = Pick<Charge, 'tokens' | 'cost'>;

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
      .filter((charge) => !isRoundingError(charge, largest))
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

function isRoundingError({ tokens, cost }: Amounts, largest: Amounts): boolean {
  return isSame(tokens, 0, largest.tokens) && isSame(cost, 0, largest.cost);
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
