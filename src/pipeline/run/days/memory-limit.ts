import type { DailyStream } from '../../../core/stream.ts';
import type { DayBatch } from '../../batch.ts';

/** Characters of the answers that all batches in flight hold together, as rows or as text, before others must wait. */
const CHARS_MAX = 16 * 1024 * 1024;

/** A batch that is being pulled. */
export interface Flight {
  /** Counts a page, and waits while the batches together hold too much. */
  took(page: { readonly text: string }): Promise<void>;
  /** The batch holds nothing any more. May be repeated. */
  end(): void;
}

interface Held {
  readonly stream: DailyStream;
  /** Characters of the next page, as far as others tell; 0 once the first one is there. */
  expected: number;
  taken: number;
}

/**
 * Bounds what batches in flight hold in memory, however large an organization is: while it is too much none begins, and
 * of those under way only the one that began first goes on, so that one always ends. How large the answers of a stream
 * are is learned from its first one, for which the others of the stream wait.
 */
export class InFlight {
  readonly #held = new Set<Held>();
  /** Characters of the largest page of a stream, by day of its batch. */
  readonly #perDay = new Map<DailyStream, number>();
  #waiting: (() => void)[] = [];

  /** Begins a batch once there is room; call `end` whatever becomes of it. */
  async begin({ stream, days }: Pick<DayBatch, 'stream' | 'days'>): Promise<Flight> {
    while (
      this.#isUntold(stream) ||
      (this.#held.size > 0 && this.#isFull(this.#expected(stream, days.length)))
    )
      await this.#change();
    const held: Held = { stream, expected: this.#expected(stream, days.length), taken: 0 };
    this.#held.add(held);
    return {
      took: async ({ text }) => {
        held.taken += text.length;
        held.expected = 0;
        this.#perDay.set(stream, Math.max(this.#perDay.get(stream) ?? 0, text.length / days.length));
        this.#changed();
        while (this.#isFull(0) && !this.#isFirst(held)) await this.#change();
      },
      end: () => {
        this.#held.delete(held);
        this.#changed();
      },
    };
  }

  /** True while the first answer of a stream is under way. */
  #isUntold(stream: DailyStream): boolean {
    return !this.#perDay.has(stream) && [...this.#held].some((held) => held.stream === stream);
  }

  #expected(stream: DailyStream, days: number): number {
    return (this.#perDay.get(stream) ?? 0) * days;
  }

  #isFull(more: number): boolean {
    let chars = more;
    for (const { expected, taken } of this.#held) chars += expected + taken;
    return chars > CHARS_MAX;
  }

  #isFirst(held: Held): boolean {
    const [first] = this.#held;
    return first === held;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
