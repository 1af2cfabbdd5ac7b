/** Reads a stream of chunks item by item, and no further than the caller needs. Holds one chunk. */
export class ChunkReader<Item> {
  readonly #chunks: AsyncIterator<readonly Item[]>;
  #chunk: readonly Item[] = [];
  #index = 0;
  #isDone = false;

  constructor(chunks: AsyncIterable<readonly Item[]>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The current item; undefined at the end, and while {@link isWaiting}. */
  get item(): Item | undefined {
    return this.#chunk[this.#index];
  }

  /** True when {@link fill} must be called before the current item is known. */
  get isWaiting(): boolean {
    return !this.#isDone && this.#index >= this.#chunk.length;
  }

  /** Reads on until there is a current item or the stream ends, and returns that item. */
  async fill(): Promise<Item | undefined> {
    while (this.isWaiting) {
      const next = await this.#chunks.next();
      this.#isDone = next.done === true;
      this.#chunk = next.done === true ? [] : next.value;
      this.#index = 0;
    }
    return this.item;
  }

  /** Moves to the next item. */
  advance(): void {
    this.#index += 1;
  }

  /** Yields the items before the first one that does not match, in the chunks in which they came. */
  async *takeWhile(matches: (item: Item) => boolean): AsyncGenerator<readonly Item[]> {
    while ((await this.fill()) !== undefined) {
      const rest = this.#chunk.slice(this.#index);
      const end = rest.findIndex((item) => !matches(item));
      const items = end < 0 ? rest : rest.slice(0, end);
      this.#index += items.length;
      if (items.length > 0) yield items;
      if (end >= 0) return;
    }
  }

  /** Stops reading, also before the end. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
