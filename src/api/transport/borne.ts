interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Answers that are remembered, per request that may be in flight. */
const REMEMBERED_ROUNDS = 4;

/**
 * How many requests the service has borne at once: of those that it answered, how many were in flight together. Instants
 * are counted, not measured: each beginning and each end of a request is one.
 */
export class Borne {
  readonly #answered: Interval[] = [];
  readonly #remembered: number;
  #next = 0;
  #instant = 0;

  /** @param most requests in flight at most. */
  constructor(most: number) {
    this.#remembered = most * REMEMBERED_ROUNDS;
  }

  /** Something happens, such as the beginning of a request; answers the instant. */
  tick(): number {
    this.#instant += 1;
    return this.#instant;
  }

  /** A request was answered that began at `from`. */
  answered(from: number): void {
    this.#answered[this.#next] = { from, to: this.tick() };
    this.#next = (this.#next + 1) % this.#remembered;
  }

  /** The most answered requests that were in flight together between two instants; 0 where none was. */
  together({ from, to }: Interval): number {
    const steps: [instant: number, change: number][] = [];
    for (const answered of this.#answered) {
      if (answered.to <= from || answered.from >= to) continue;
      steps.push([Math.max(from, answered.from), 1], [Math.min(to, answered.to), -1]);
    }
    // What ends at an instant makes room for what begins then.
    steps.sort(([a, before], [b, after]) => a - b || before - after);
    let inFlight = 0;
    let most = 0;
    for (const [, change] of steps) {
      inFlight += change;
      most = Math.max(most, inFlight);
    }
    return most;
  }
}
