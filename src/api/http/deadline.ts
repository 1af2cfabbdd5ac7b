/** A time limit for one request, joined with the caller's own signal. */
export interface Deadline {
  /** Aborts when the time is over or the caller aborts. */
  readonly signal: AbortSignal;
  /** True when it was the time. */
  expired(): boolean;
  /** Waits for something that the service is not asked to do in time; the time begins anew afterwards. */
  suspendedFor(wait: () => Promise<void>): Promise<void>;
  /** Ends the watch; call it whatever happened. */
  clear(): void;
}

/** Starts a deadline. AbortSignal.any would keep every signal alive as long as the run's. */
export function deadlineOf(timeoutMs: number, signal: AbortSignal): Deadline {
  const controller = new AbortController();
  let expired = false;
  const expire = () => {
    expired = true;
    controller.abort();
  };
  let timer = setTimeout(expire, timeoutMs);
  const stop = () => controller.abort();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    expired: () => expired,
    suspendedFor: async (wait) => {
      clearTimeout(timer);
      await wait();
      timer = setTimeout(expire, timeoutMs);
    },
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    },
  };
}
