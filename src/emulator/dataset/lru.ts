/** A cache that forgets what was used least recently once its entries weigh more than `bytesMax`. */
export interface Lru<Value> {
  get(key: string): Value | undefined;
  /** Stores a value that weighs `bytes`. One that is heavier than the whole cache is not kept. */
  set(key: string, value: Value, bytes: number): void;
  clear(): void;
  /** Weight of all entries; never above `bytesMax`. */
  bytes(): number;
}

/** Opens an empty cache. */
export function openLru<Value>(bytesMax: number): Lru<Value> {
  const entries = new Map<string, { value: Value; bytes: number }>();
  let held = 0;

  function drop(key: string): void {
    held -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      // A Map iterates in the order of insertion: reinserting makes the entry the youngest.
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, bytes) {
      drop(key);
      if (bytes > bytesMax) return;
      entries.set(key, { value, bytes });
      held += bytes;
      for (const oldest of entries.keys()) {
        if (held <= bytesMax) break;
        drop(oldest);
      }
    },
    clear() {
      entries.clear();
      held = 0;
    },
    bytes: () => held,
  };
}
