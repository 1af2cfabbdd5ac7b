import { setMaxListeners } from 'node:events';

/** A signal that aborts when one of several does. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Lets go of the others; call it whatever happened. */
  unlink(): void;
}

/** Links signals. AbortSignal.any would keep every call alive as long as the run's signal. */
export function linkedSignal(...signals: readonly AbortSignal[]): LinkedSignal {
  const control = new AbortController();
  const listeners = signals.map((signal) => {
    const listener = () => control.abort(signal.reason);
    // All calls of a run hang on one signal, each until it ends. Node would take that for a leak and say so.
    setMaxListeners(0, signal);
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
    return { signal, listener };
  });
  return {
    signal: control.signal,
    unlink: () => {
      for (const { signal, listener } of listeners) signal.removeEventListener('abort', listener);
    },
  };
}
