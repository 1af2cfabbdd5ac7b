/** A published number: over which pieces of activity it is a sum. */
export type Published = readonly boolean[];

/** A piece of activity: what one person did, in the same published numbers. */
export interface Piece {
  readonly person: string;
}

/**
 * Looks for people whom an attacker can isolate: some multiples of the published numbers, added up, are a number about
 * activity of these people alone. Tries every set of `size` people. Returns one, or null.
 *
 * Such multiples exist for a set exactly if the published numbers span less without the activity of the set than with it.
 */
export function isolatedPeople(
  published: readonly Published[],
  pieces: readonly Piece[],
  size: number,
): readonly string[] | null {
  const people = [...new Set(pieces.map(({ person }) => person))];
  const columns = distinctColumns(published, pieces);
  const whole = rankOf(published, columns);
  return (
    subsets(people, Math.min(size, people.length)).find((set) => {
      const outside = columns.filter((index) => !set.includes(pieces[index]?.person ?? ''));
      return rankOf(published, outside) < whole;
    }) ?? null
  );
}

/** One piece of those of a person that are in the same numbers: nothing can tell them apart. */
function distinctColumns(published: readonly Published[], pieces: readonly Piece[]): number[] {
  const keys = pieces.map(
    ({ person }, index) =>
      `${person} ${published.map((number) => (number[index] === true ? 1 : 0)).join('')}`,
  );
  return pieces.flatMap((_, index) => (keys.indexOf(keys[index] ?? '') === index ? [index] : []));
}

function subsets(items: readonly string[], size: number): string[][] {
  if (size === 0) return [[]];
  return items.flatMap((item, index) =>
    subsets(items.slice(index + 1), size - 1).map((rest) => [item, ...rest]),
  );
}

/** A prime so large that a rank by its remainders is the rank, and so small that products of two stay exact. */
const PRIME = 1_000_003;

/** The rank of the numbers over some of the pieces, by elimination. */
function rankOf(published: readonly Published[], columns: readonly number[]): number {
  const rows: number[][] = published.map((number) =>
    columns.map((column) => (number[column] === true ? 1 : 0)),
  );
  let rank = 0;
  for (let column = 0; column < columns.length && rank < rows.length; column += 1) {
    const at = rows.findIndex((row, index) => index >= rank && row[column] !== 0);
    const pivot = rows[at];
    if (at === -1 || pivot === undefined) continue;
    const swapped = rows[rank];
    if (swapped !== undefined) rows[at] = swapped;
    rows[rank] = pivot;
    const inverse = inverseOf(pivot[column] ?? 0);
    for (let other = rank + 1; other < rows.length; other += 1) {
      const row = rows[other];
      if (row === undefined || row[column] === 0) continue;
      const factor = ((row[column] ?? 0) * inverse) % PRIME;
      rows[other] = row.map((value, index) => (value + (PRIME - factor) * (pivot[index] ?? 0)) % PRIME);
    }
    rank += 1;
  }
  return rank;
}

function inverseOf(value: number): number {
  let [result, base, power] = [1, value, PRIME - 2];
  while (power > 0) {
    if (power % 2 === 1) result = (result * base) % PRIME;
    base = (base * base) % PRIME;
    power = Math.floor(power / 2);
  }
  return result;
}
