/** Calls a listener when a signal aborts. Returns what stops listening; a signal that outlives the listener needs it. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  signal?.addEventListener('abort', listener, { once: true });
  return () => signal?.removeEventListener('abort', listener);
}
