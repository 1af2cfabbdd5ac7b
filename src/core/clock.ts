import { setTimeout as delay } from 'node:timers/promises';

/** The program's time. Injected everywhere, so that tests and rehearsals can set it. */
export interface Clock {
  /** The wall-clock time. Decides which day is yesterday, and what the ledger records. */
  now(): Date;
  /** Monotonic milliseconds, for durations, budgets and deadlines. */
  monotonicMs(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A random number from 0 to below 1. Injected where tests must repeat it. */
export function systemRandom(): number {
  return Math.random();
}

/** Creates the machine's clock. With `frozenAt`, `now()` always returns that instant; durations stay real. */
export function systemClock(frozenAt?: Date): Clock {
  return {
    now: () => new Date(frozenAt ?? Date.now()),
    monotonicMs: () => performance.now(),
    sleep: async (ms, signal) => {
      try {
        await delay(ms, undefined, signal ? { signal } : {});
      } catch (error) {
        throw signal?.aborted ? signal.reason : error;
      }
    },
  };
}

/** An upgrade of a warehouse to the schema of this version. Each database counts its own versions. */
export interface Upgrade {
  readonly location: string;
  /** The versions of its schema before and after. */
  readonly from: number;
  readonly to: number;
}

/** What an entry point passes to a job besides its settings and its request. */
export interface JobContext<Event = never> {
  readonly clock: Clock;
  /** Receives what the job reports while it works. Must not throw, and should return at once. */
  readonly observe: (event: Event) => void;
  /** Aborted with a `StoppedError` when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Is told of each warehouse that the job has upgraded before it wrote. Must not throw. */
  readonly upgraded?: ((upgrade: Upgrade) => void) | undefined;
}

/** Calls a listener when a signal aborts. Returns what stops listening; a signal that outlives the listener needs it. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  signal?.addEventListener('abort', listener, { once: true });
  return () => signal?.removeEventListener('abort', listener);
}

/** Resolves when a signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });
}

/** Runs tasks one at a time, in the order in which they were added. A task that fails does not stop the next one. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a task after all earlier ones; the result settles as the task does. */
  add<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when every task added so far has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

type Waiting = () => void;

const waiting: Waiting[] = [];

/**
 * Waits until the event loop has polled for input. Resumes one caller per round of the loop, so that
 * many callers together do not delay incoming responses.
 */
export function afterInput(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

function next(): void {
  // A task scheduled in this phase of the loop runs in the next round.
  if (waiting.length > 1) setImmediate(next);
  waiting.shift()?.();
}
