/** Ends a request early. It has one listener only, because an AbortSignal takes many times as long. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** Sets the function that ends the request; it replaces the one before. */
  listen(listener: (() => void) | undefined): void;
}

/** A time limit for one request, joined with the caller's own signal. */
export interface Deadline extends Cancellation {
  /** True if the time limit ended the request. */
  expired(): boolean;
  /** Waits for something outside the request; afterwards the time limit starts again. */
  suspendedFor(wait: () => Promise<void>): Promise<void>;
  /** Removes timer and listener. Call it once after each request, also after a failed one. */
  clear(): void;
}

/** Starts a deadline. AbortSignal.any would keep the signal of every request in memory until the run ends. */
export function deadlineOf(timeoutMs: number, signal: AbortSignal): Deadline {
  let expired = false;
  let isCancelled = signal.aborted;
  let listener: (() => void) | undefined;
  const cancel = () => {
    isCancelled = true;
    listener?.();
  };
  const expire = () => {
    expired = true;
    cancel();
  };
  let timer = setTimeout(expire, timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  return {
    get isCancelled() {
      return isCancelled;
    },
    listen: (next) => {
      listener = next;
    },
    expired: () => expired,
    suspendedFor: async (wait) => {
      clearTimeout(timer);
      await wait();
      timer = setTimeout(expire, timeoutMs);
    },
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    },
  };
}
