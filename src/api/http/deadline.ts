/** What may end a request before its response is there. It has one listener: an AbortSignal costs many times as much. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** Names who is told once the request is to end; replaces the one before. */
  listen(listener: (() => void) | undefined): void;
}

/** A time limit for one request, joined with the caller's own signal. */
export interface Deadline extends Cancellation {
  /** True when it was the time. */
  expired(): boolean;
  /** Waits for something that the service is not asked to do in time; the time begins anew afterwards. */
  suspendedFor(wait: () => Promise<void>): Promise<void>;
  /** Ends the watch; call it whatever happened. */
  clear(): void;
}

/** Starts a deadline. AbortSignal.any would keep every signal alive as long as the run's. */
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
