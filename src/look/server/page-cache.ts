/** The most text that a cache keeps, in UTF-16 units. */
const TEXT_MAX = 4_000_000;

/** Keeps what was computed from one state of the warehouse. */
export interface PageCache<Value extends { readonly body: string }> {
  /** What was kept under a key, if it is of this version. */
  get(key: string, version: string): Value | undefined;
  /** Keeps a value. What is of another version goes, and what was not asked for the longest if there is too much. */
  put(key: string, version: string, value: Value): void;
}

/** Creates an empty cache. */
export function createPageCache<Value extends { readonly body: string }>(
  textMax = TEXT_MAX,
): PageCache<Value> {
  // In the order of the last use.
  const kept = new Map<string, Value>();
  let keptVersion: string | undefined;
  let size = 0;
  const drop = (key: string) => {
    size -= kept.get(key)?.body.length ?? 0;
    kept.delete(key);
  };
  return {
    get: (key, version) => {
      const value = version === keptVersion ? kept.get(key) : undefined;
      if (value === undefined) return undefined;
      kept.delete(key);
      kept.set(key, value);
      return value;
    },
    put: (key, version, value) => {
      if (version !== keptVersion) {
        kept.clear();
        size = 0;
        keptVersion = version;
      }
      drop(key);
      if (value.body.length > textMax) return;
      kept.set(key, value);
      size += value.body.length;
      for (const oldest of kept.keys()) {
        if (size <= textMax) return;
        drop(oldest);
      }
    },
  };
}
