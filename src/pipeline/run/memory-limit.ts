import type { DailyStream } from '../../core/stream.ts';
import type { DayBatch } from '../plan.ts';

/** Maximum number of characters of answers that all batches in flight hold together, as rows or as text. */
const CHARS_MAX = 16 * 1024 * 1024;

/** The memory that one batch in flight uses. */
export interface MemoryShare {
  /** Counts a page. Waits while all batches together hold too much. */
  add(page: { readonly text: string }): Promise<void>;
  /** Frees what the batch held. May be repeated. */
  end(): void;
}

interface Held {
  readonly stream: DailyStream;
  /** Expected characters of the first page, estimated from earlier pages; 0 once that page is there. */
  expected: number;
  counted: number;
}

/**
 * Bounds the memory of all batches in flight. While they hold too much, no batch begins and only the oldest one continues;
 * so one batch can always end. The first answer of a stream shows how large the others will be, so the other batches of the
 * stream wait for it.
 */
export class MemoryLimit {
  readonly #held = new Set<Held>();
  /** Characters of the largest page of a stream, divided by the days of its batch. */
  readonly #perDay = new Map<DailyStream, number>();
  #waiting: (() => void)[] = [];

  /** Begins a batch once there is room for it. Call `end` even if the batch fails. */
  async begin({ stream, days }: Pick<DayBatch, 'stream' | 'days'>): Promise<MemoryShare> {
    while (
      this.#isFirstUnderWay(stream) ||
      (this.#held.size > 0 && this.#isFull(this.#expected(stream, days.length)))
    )
      await this.#nextChange();
    const held: Held = { stream, expected: this.#expected(stream, days.length), counted: 0 };
    this.#held.add(held);
    return {
      add: async ({ text }) => {
        held.counted += text.length;
        held.expected = 0;
        this.#perDay.set(stream, Math.max(this.#perDay.get(stream) ?? 0, text.length / days.length));
        this.#wakeAll();
        while (this.#isFull(0) && !this.#isOldest(held)) await this.#nextChange();
      },
      end: () => {
        this.#held.delete(held);
        this.#wakeAll();
      },
    };
  }

  /** True while the first answer of a stream is under way. */
  #isFirstUnderWay(stream: DailyStream): boolean {
    return !this.#perDay.has(stream) && [...this.#held].some((held) => held.stream === stream);
  }

  #expected(stream: DailyStream, days: number): number {
    return (this.#perDay.get(stream) ?? 0) * days;
  }

  #isFull(more: number): boolean {
    let chars = more;
    for (const { expected, counted } of this.#held) chars += expected + counted;
    return chars > CHARS_MAX;
  }

  #isOldest(held: Held): boolean {
    const [first] = this.#held;
    return first === held;
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wakeAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
