import type { Clock } from '../../../src/core/clock.ts';

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/** Rounds of the event loop for woken code before time advances. */
const TURNS = 4;

/**
 * A clock controlled by the test. `advance` wakes sleepers one by one, each at its own time. With `auto`, a sleep
 * ends as soon as nothing else happens, and time advances.
 */
export class FakeClock implements Clock {
  /** Milliseconds of every requested sleep. */
  readonly sleeps: number[] = [];
  #sleepers: Sleeper[] = [];
  #ms = 0;
  readonly #startMs: number;
  readonly #auto: boolean;
  readonly #lateMs: () => number;

  /** @param options `lateMs` is by how much a sleep overruns, as timers of a busy process do. */
  constructor(options: { now?: string; auto?: boolean; lateMs?: () => number } = {}) {
    this.#startMs = Date.parse(options.now ?? '2026-03-01T12:00:00.000Z');
    this.#auto = options.auto ?? false;
    this.#lateMs = options.lateMs ?? (() => 0);
  }

  now(): Date {
    return new Date(this.#startMs + this.#ms);
  }

  monotonicMs(): number {
    return this.#ms;
  }

  /** The number of current sleepers. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(ms);
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const stop = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const sleeper = { atMs: this.#ms + ms + this.#lateMs(), wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', stop, { once: true });
      if (this.#auto) setImmediate(() => this.#wakeNext());
    });
  }

  /** Advances time by `ms`. */
  async advance(ms: number): Promise<void> {
    const end = this.#ms + ms;
    await settle();
    while (this.#sleepers.some(({ atMs }) => atMs <= end)) {
      this.#wakeNext();
      await settle();
    }
    this.#ms = end;
  }

  #wakeNext(): void {
    const next = this.#sleepers.toSorted((a, b) => a.atMs - b.atMs)[0];
    if (next === undefined) return;
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper !== next);
    this.#ms = Math.max(this.#ms, next.atMs);
    next.wake();
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
