import { ROW_GROUP_ROWS_MAX } from '../limits.ts';

/** Levels of the format: an empty list is there, but none of its elements; an element is there with its list. */
const EMPTY = 1;
const ELEMENT = 3;

/** The lists of a column within a row group, their elements by their numbers in a dictionary. */
export class ListSlots {
  #numbers = new Uint32Array(ROW_GROUP_ROWS_MAX);
  #definition = new Uint8Array(ROW_GROUP_ROWS_MAX);
  #repetition = new Uint8Array(ROW_GROUP_ROWS_MAX);
  #count = 0;
  #levels = 0;
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  /** The numbers of all elements. */
  get numbers(): Uint32Array {
    return this.#numbers.subarray(0, this.#count);
  }

  /** For each element, and each empty list, how much of it is there. */
  get definition(): Uint8Array {
    return this.#definition.subarray(0, this.#levels);
  }

  /** For the same, 0 where a list begins and 1 elsewhere. */
  get repetition(): Uint8Array {
    return this.#repetition.subarray(0, this.#levels);
  }

  add(numbers: readonly number[]): void {
    this.#makeRoom(Math.max(1, numbers.length));
    if (numbers.length === 0) this.#addLevel(EMPTY, 0);
    for (let at = 0; at < numbers.length; at += 1) {
      this.#addLevel(ELEMENT, Math.min(at, 1));
      this.#numbers[this.#count] = numbers[at] ?? 0;
      this.#count += 1;
    }
    this.#rows += 1;
  }

  clear(): void {
    this.#count = 0;
    this.#levels = 0;
    this.#rows = 0;
  }

  #addLevel(definition: number, repetition: number): void {
    this.#definition[this.#levels] = definition;
    this.#repetition[this.#levels] = repetition;
    this.#levels += 1;
  }

  #makeRoom(levels: number): void {
    const needed = this.#levels + levels;
    if (needed <= this.#definition.length) return;
    const length = Math.max(needed, this.#definition.length * 2);
    const [numbers, definition, repetition] = [this.#numbers, this.#definition, this.#repetition];
    this.#numbers = new Uint32Array(length);
    this.#definition = new Uint8Array(length);
    this.#repetition = new Uint8Array(length);
    this.#numbers.set(numbers);
    this.#definition.set(definition);
    this.#repetition.set(repetition);
  }
}
