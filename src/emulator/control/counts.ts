/** Maximum number of different names; further ones count as `other`. */
const NAMES_MAX = 50_000;

/** Counts by name. */
export interface Counts {
  add(name: string): void;
  of(name: string): number;
  all(): Record<string, number>;
  clear(): void;
}

/** Opens counts that are all 0. */
export function openCounts(): Counts {
  const counts = new Map<string, number>();
  return {
    add(name) {
      const key = counts.size < NAMES_MAX || counts.has(name) ? name : 'other';
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    of: (name) => counts.get(name) ?? 0,
    all: () => Object.fromEntries(counts),
    clear: () => counts.clear(),
  };
}
