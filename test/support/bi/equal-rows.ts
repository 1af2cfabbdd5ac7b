/** Relative difference that the order of a sum may make. */
const TOLERANCE = 1e-9;

type Row = Readonly<Record<string, unknown>>;

/** The differences between two lists of rows in the same order, one sentence each; numbers may differ by rounding. */
export function rowDifferences(found: readonly Row[], expected: readonly Row[]): string[] {
  if (found.length !== expected.length) return [`${found.length} rows instead of ${expected.length}`];
  return expected.flatMap((row, index) => {
    const other = found[index] ?? {};
    const names = [...new Set([...Object.keys(row), ...Object.keys(other)])];
    return names
      .filter((name) => !isClose(other[name], row[name]))
      .map((name) => `row ${index}: ${name} is ${String(other[name])} instead of ${String(row[name])}`);
  });
}

/** True for equal values, and for numbers that differ by rounding only. */
export function isClose(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'number' || typeof other !== 'number') return false;
  return Math.abs(one - other) <= TOLERANCE * Math.max(Math.abs(one), Math.abs(other));
}
