import { UsageError } from '../../core/errors.ts';

/** How many mistakes are described; the others are only counted. */
const DESCRIBED_MAX = 10;

/** Something wrong in a line of a file. */
export interface Mistake {
  readonly line: number;
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
}

/** Collects the mistakes in a file, so that they are reported together. */
export class Mistakes {
  readonly #file: string;
  readonly #all: Mistake[] = [];

  /** @param file the name of the file in messages */
  constructor(file: string) {
    this.#file = file;
  }

  add(mistake: Mistake): void {
    this.#all.push(mistake);
  }

  /**
   * Does nothing without mistakes.
   * @throws {UsageError} that describes the first mistakes as `file:line: what is wrong`, in the order of lines.
   */
  refuse(): void {
    const sorted = this.#all.toSorted((a, b) => a.line - b.line);
    const [first, ...others] = sorted.slice(0, DESCRIBED_MAX);
    if (first === undefined) return;
    const describe = ({ line, message }: Mistake) => `${this.#file}:${line}: ${message}`;
    const more = sorted.length - DESCRIBED_MAX;
    throw new UsageError(describe(first), {
      hint: first.hint,
      details: [
        ...others.map(describe),
        ...(more > 0 ? [`and ${more} more ${more === 1 ? 'mistake' : 'mistakes'}`] : []),
      ],
    });
  }
}
