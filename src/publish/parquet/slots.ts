import { ROW_GROUP_ROWS_MAX } from '../limits.ts';

/** The values of a column within a row group, one per row, by their numbers in a dictionary. */
export class Slots {
  readonly #numbers = new Uint32Array(ROW_GROUP_ROWS_MAX);
  readonly #isThere = new Uint8Array(ROW_GROUP_ROWS_MAX);
  #count = 0;
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  /** The numbers of the values that are there. */
  get numbers(): Uint32Array {
    return this.#numbers.subarray(0, this.#count);
  }

  /** For each row 1 where it has a value, and 0 where it has none. */
  get isThere(): Uint8Array {
    return this.#isThere.subarray(0, this.#rows);
  }

  add(number: number): void {
    this.#numbers[this.#count] = number;
    this.#isThere[this.#rows] = 1;
    this.#count += 1;
    this.#rows += 1;
  }

  addNothing(): void {
    this.#isThere[this.#rows] = 0;
    this.#rows += 1;
  }

  clear(): void {
    this.#count = 0;
    this.#rows = 0;
  }
}
