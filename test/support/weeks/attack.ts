import { sequence } from '../random/seed.ts';

/** A part of activity: whose it is, and in which published sums it is, by their positions. */
export interface Part {
  readonly person: string;
  readonly sums: readonly number[];
}

/** Products of two remainders stay exact, and two of them together are one number. */
const PRIME = 67_108_859;

/**
 * Looks for 1 to `most` people about whom a combination of published sums is, each of their parts counted once or not at all.
 * It knows who is in which sum. Returns the people of one such set; null if there is none of at most `PIECES_MAX` different parts.
 *
 * A set of parts follows from the sums exactly if it is orthogonal to everything that is orthogonal to all sums. Two random
 * vectors of these give each part a number; the numbers of a set that follows add up to 0.
 */
export function peopleWhoFollow(
  parts: readonly Part[],
  sums: number,
  most: number,
): readonly string[] | null {
  const alike = [...Map.groupBy(parts, (part) => part.sums.toSorted((a, b) => a - b).join()).values()];
  const marks = [1, 2].map((seed) => orthogonal(parts, sums, sequence(seed)));
  const index = new Map(parts.map((part, at) => [part, at]));
  const pieces = alike.flatMap((own) => {
    const people = [...new Set(own.map(({ person }) => person))];
    const mark = marks.map((vector) => sum(own.map((part) => vector[index.get(part) ?? -1] ?? 0)));
    return people.length > most ? [] : [{ people, mark: mark as [number, number] }];
  });
  return addingUpToNothing(pieces, most);
}

interface Piece {
  readonly people: readonly string[];
  readonly mark: readonly [number, number];
}

/** Tries one, two, three and four pieces: each pair against each pair. */
function addingUpToNothing(pieces: readonly Piece[], most: number): readonly string[] | null {
  const keyOf = ([a, b]: Piece['mark']) => a * PRIME + b;
  const join = (one: Piece, two: Piece): Piece => ({
    people: [...new Set([...one.people, ...two.people])],
    mark: [(one.mark[0] + two.mark[0]) % PRIME, (one.mark[1] + two.mark[1]) % PRIME],
  });
  const seen = new Map<number, Piece[]>();
  const check = (found: Piece): readonly string[] | null => {
    if (found.people.length > most) return null;
    if (keyOf(found.mark) === 0) return found.people;
    const opposite = keyOf([(PRIME - found.mark[0]) % PRIME, (PRIME - found.mark[1]) % PRIME]);
    const whole = (seen.get(opposite) ?? []).find((other) => join(found, other).people.length <= most);
    if (whole !== undefined) return join(found, whole).people;
    seen.set(keyOf(found.mark), [...(seen.get(keyOf(found.mark)) ?? []), found]);
    return null;
  };
  for (const [at, one] of pieces.entries()) {
    for (const found of [one, ...pieces.slice(0, at).map((two) => join(one, two))]) {
      const people = check(found);
      if (people !== null) return people;
    }
  }
  return null;
}

/** A random vector over the parts that is orthogonal to every sum. */
function orthogonal(parts: readonly Part[], sums: number, random: () => number): number[] {
  const rows = Array.from({ length: sums }, (_, at) => parts.map((part) => (part.sums.includes(at) ? 1 : 0)));
  const pivots: { readonly row: number[]; readonly column: number }[] = [];
  for (const row of rows) {
    for (const { row: own, column } of pivots) subtract(row, own, row[column] ?? 0);
    const column = row.findIndex((value) => value !== 0);
    if (column === -1) continue;
    const factor = inverseOf(row[column] ?? 0);
    const scaled = row.map((value) => (value * factor) % PRIME);
    for (const { row: own } of pivots) subtract(own, scaled, own[column] ?? 0);
    pivots.push({ row: scaled, column });
  }
  const vector = parts.map(() => Math.floor(random() * PRIME));
  for (const { column } of pivots) vector[column] = 0;
  const free = [...vector];
  for (const { row, column } of pivots) {
    const rest = sum(row.map((value, at) => (value * (free[at] ?? 0)) % PRIME));
    vector[column] = (PRIME - rest) % PRIME;
  }
  return vector;
}

function subtract(row: number[], own: readonly number[], factor: number): void {
  if (factor === 0) return;
  for (const [at, value] of own.entries()) row[at] = ((row[at] ?? 0) + (PRIME - factor) * value) % PRIME;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => (all + value) % PRIME, 0);
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
