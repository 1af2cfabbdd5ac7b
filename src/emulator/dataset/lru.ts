/** A cache of bounded weight. It forgets the least recently used values first. */
interface Lru<Value> {
  /** Returns the value of the key. Makes it first if it is not in the cache. */
  remember(key: string, make: () => Value): Value;
  clear(): void;
  /** The weight of all values; never above `bytesMax`. */
  bytes(): number;
}

/** Opens an empty cache. A value heavier than `bytesMax` is not kept. */
export function openLru<Value>(bytesMax: number, weigh: (value: Value) => number): Lru<Value> {
  const values = new Map<string, Value>();
  let held = 0;

  function keep(key: string, value: Value): void {
    const bytes = weigh(value);
    if (bytes > bytesMax) return;
    values.set(key, value);
    held += bytes;
    for (const [oldest, dropped] of values) {
      if (held <= bytesMax) break;
      held -= weigh(dropped);
      values.delete(oldest);
    }
  }

  return {
    remember(key, make) {
      const known = values.get(key);
      if (known === undefined) {
        const made = make();
        keep(key, made);
        return made;
      }
      // A Map iterates in the order of insertion, so reinserting makes this the most recently used value.
      values.delete(key);
      values.set(key, known);
      return known;
    },
    clear() {
      values.clear();
      held = 0;
    },
    bytes: () => held,
  };
}
