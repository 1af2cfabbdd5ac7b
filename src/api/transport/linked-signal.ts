import { setMaxListeners } from 'node:events';

/** A signal that aborts when the caller's signal or the common end signal does. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Removes the listeners. Call it once after each call, also after a failed one. */
  unlink(): void;
}

interface Link {
  readonly signal: AbortSignal;
  /** Number of open calls that use it. */
  calls: number;
  unlink(): void;
}

/**
 * Links the signals of callers with `end`. Open calls with the same signal, such as those of one run, share a link.
 * AbortSignal.any would keep every call in memory until the run ends.
 */
export function signalLinker(end: AbortSignal): (signal: AbortSignal) => LinkedSignal {
  const links = new Map<AbortSignal, Link>();
  return (signal) => {
    const link = links.get(signal) ?? linkOf(signal, end);
    links.set(signal, link);
    link.calls += 1;
    const unlink = () => {
      link.calls -= 1;
      if (link.calls > 0) return;
      links.delete(signal);
      link.unlink();
    };
    return { signal: link.signal, unlink };
  };
}

function linkOf(...signals: readonly AbortSignal[]): Link {
  const control = new AbortController();
  const listeners = signals.map((signal) => {
    const listener = () => control.abort(signal.reason);
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
    return { signal, listener };
  });
  // Every request in flight listens; Node would report a leak.
  setMaxListeners(0, control.signal, ...signals);
  return {
    signal: control.signal,
    calls: 0,
    unlink: () => {
      for (const { signal, listener } of listeners) signal.removeEventListener('abort', listener);
    },
  };
}
