import type { Charge } from './charge.ts';
import type { CorrectionReason } from './columns.ts';

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
