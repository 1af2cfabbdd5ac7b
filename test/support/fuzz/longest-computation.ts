const TICK_MS = 10;

/** Measures for how long a process does nothing but compute, in its own time: that of others does not count. */
export class Stall {
  #longestMs = 0;

  /** The longest so far, in milliseconds. */
  get longestMs(): number {
    return this.#longestMs;
  }

  /** Runs `work` and measures every round of the event loop. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    let before = process.cpuUsage();
    const look = () => {
      const { user, system } = process.cpuUsage(before);
      this.#longestMs = Math.max(this.#longestMs, (user + system) / 1_000);
      before = process.cpuUsage();
    };
    const timer = setInterval(look, TICK_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }
}
