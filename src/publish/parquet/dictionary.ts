import type { ByteWriter } from 'hyparquet-writer';

/** The smallest and the largest value of a column within a row group; undefined where it has none. */
export interface Bounds {
  readonly min: string | number | undefined;
  readonly max: string | number | undefined;
}

/**
 * The different values of a column within a row group, by the numbers that they got in the order of their first sight.
 * "Plain" is what the format calls values as bytes one after the other.
 */
export interface Dictionary {
  readonly count: number;
  /** False where the format has no dictionaries. */
  readonly isAllowed: boolean;
  /** The plain bytes of a sequence of values, by their numbers. */
  plainLength(numbers: Uint32Array): number;
  appendPlain(out: ByteWriter, numbers: Uint32Array): void;
  /** The plain bytes of the different values themselves. */
  length(): number;
  append(out: ByteWriter): void;
  bounds(): Bounds;
  /** Forgets all values. */
  clear(): void;
}
