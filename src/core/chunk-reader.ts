/** Reads what comes in chunks item by item, and only as far as it is asked to. */
export class Reader<Item> {
  readonly #chunks: AsyncIterator<readonly Item[]>;
  #chunk: readonly Item[] = [];
  #index = 0;
  #isDone = false;

  constructor(chunks: AsyncIterable<readonly Item[]>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The item at hand; undefined at the end, and while {@link isWaiting}. */
  get item(): Item | undefined {
    return this.#chunk[this.#index];
  }

  /** True when {@link fill} must be called before the next item is known. */
  get isWaiting(): boolean {
    return !this.#isDone && this.#index >= this.#chunk.length;
  }

  /** Reads until an item is at hand or the end is known. */
  async fill(): Promise<void> {
    while (this.isWaiting) {
      const next = await this.#chunks.next();
      this.#isDone = next.done === true;
      this.#chunk = next.done === true ? [] : next.value;
      this.#index = 0;
    }
  }

  /** Goes on to the next item. */
  advance(): void {
    this.#index += 1;
  }

  /** Ends the reading, wherever it is. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
