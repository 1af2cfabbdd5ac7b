/** A row that a load has added, removed or changed. */
export interface Change<Row> {
  /** Null if it was added. */
  readonly before: Row | null;
  /** Null if it was removed. */
  readonly after: Row | null;
}

/** What differs between the rows stored before and those loaded now. */
export interface Changes<Row> {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly unchanged: number;
  /** In the order of their keys. */
  readonly changes: readonly Change<Row>[];
}

/** Compares two lists of rows. Rows of the same key are one row before and after. */
export function changesBetween<Row extends object>(
  before: readonly Row[],
  after: readonly Row[],
  keyOf: (row: Row) => string,
): Changes<Row> {
  const old = new Map(before.map((row) => [keyOf(row), row]));
  const loaded = new Map(after.map((row) => [keyOf(row), row]));
  const counts = { added: 0, removed: 0, changed: 0, unchanged: 0 };
  const changes: Change<Row>[] = [];
  for (const key of [...new Set([...old.keys(), ...loaded.keys()])].toSorted()) {
    const change = { before: old.get(key) ?? null, after: loaded.get(key) ?? null };
    const kind = kindOf(change);
    counts[kind] += 1;
    if (kind !== 'unchanged') changes.push(change);
  }
  return { ...counts, changes };
}

function kindOf<Row extends object>({
  before,
  after,
}: Change<Row>): 'added' | 'removed' | 'changed' | 'unchanged' {
  if (before === null) return 'added';
  if (after === null) return 'removed';
  return JSON.stringify(sorted(before)) === JSON.stringify(sorted(after)) ? 'unchanged' : 'changed';
}

function sorted(row: object): [string, unknown][] {
  return Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
