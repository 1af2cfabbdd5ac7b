import { type Charge, isSame, keyOf } from '../charge.ts';

/** What was issued for a month over all files: by day, user and model, and then by team and cost center. */
export class Issued {
  readonly #byKey = new Map<string, Map<string, Charge>>();

  /** Adds a charge of a file. The files come in the order in which they were issued. */
  add(charge: Charge): void {
    const key = keyOf(charge);
    const byAllocation = this.#byKey.get(key) ?? new Map<string, Charge>();
    this.#byKey.set(key, byAllocation);
    const allocation = JSON.stringify([charge.team, charge.costCenter]);
    const before = byAllocation.get(allocation);
    byAllocation.set(allocation, before === undefined ? charge : added(before, charge));
  }

  /** Returns what was issued for a key, and forgets it. What was taken back completely is not returned. */
  take(key: string): Charge[] {
    const byAllocation = this.#byKey.get(key);
    this.#byKey.delete(key);
    return [...(byAllocation?.values() ?? [])].filter(({ tokens, cost }) => tokens !== 0 || cost !== 0);
  }

  /** The keys that were not taken. */
  keys(): string[] {
    return [...this.#byKey.keys()];
  }
}

/** Adds two charges. The price is that of the later one. A sum that is only a rounding error is 0. */
function added(before: Charge, charge: Charge): Charge {
  return {
    ...charge,
    tokens: plus(before.tokens, charge.tokens),
    cost: plus(before.cost, charge.cost),
  };
}

function plus(a: number, b: number): number {
  return isSame(a, -b) ? 0 : a + b;
}

/** The tokens and the cost of some charges. */
export function sumOf(charges: readonly Charge[]): { readonly tokens: number; readonly cost: number } {
  let [tokens, cost] = [0, 0];
  for (const charge of charges) {
    tokens += charge.tokens;
    cost += charge.cost;
  }
  return { tokens, cost };
}
