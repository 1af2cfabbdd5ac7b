/** Texts that are remembered at most, and the characters of one. */
const TEXTS_MAX = 10_000;
const CHARACTERS_MAX = 64;

/** A text of {@link CHARACTERS_MAX} has three times as many bytes at most. */
const SLAB_BYTES = 64 * 1024;

/**
 * The texts of one column as UTF-8. Users, models and languages come again day after day: a text that was seen before
 * is the same array, which the Parquet writer finds in its dictionary without a look at the bytes.
 */
export class TextBytes {
  readonly #known = new Map<string, Uint8Array>();
  readonly #encoder = new TextEncoder();
  #slab = new Uint8Array(0);

  /** True when so many texts are new that it is not worth while. */
  get isFull(): boolean {
    return this.#known.size >= TEXTS_MAX;
  }

  /** The bytes of a text; not to be changed. */
  of(text: string): Uint8Array {
    if (text.length > CHARACTERS_MAX) return this.#encoder.encode(text);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const bytes = this.#cut(text);
    if (!this.isFull) this.#known.set(text, bytes);
    return bytes;
  }

  /** Cut from a larger array: one of its own would take more memory than the text. */
  #cut(text: string): Uint8Array {
    if (this.#slab.length < text.length * 3) this.#slab = new Uint8Array(SLAB_BYTES);
    const { written } = this.#encoder.encodeInto(text, this.#slab);
    const bytes = this.#slab.subarray(0, written);
    this.#slab = this.#slab.subarray(written);
    return bytes;
  }
}
