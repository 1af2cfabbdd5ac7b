/** Runs tasks one at a time, in the order in which they were added. A task that fails does not stop the next one. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a task after all earlier ones; the result settles as the task does. */
  add<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when every task added so far has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
