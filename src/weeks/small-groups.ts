/**
 * What readers could compute about few people from published sums.
 *
 * Each published sum is a column: it has a 1 for each part of a person's activity that it contains. Whatever readers compute
 * from sums is a combination of columns, so it is a function on the rows; it is about the people for whom it is not 0. Turned
 * around: the rows on which a combination is 0 lie in a hyperplane, so a combination is about fewer than `k` people exactly
 * if some hyperplane that does not hold all rows holds those of everybody but 1 to `k` − 1 people.
 *
 * Numbers are remainders by a prime. If a combination of whole multiples of the sums is a number about few people, so it is by
 * remainders, unless all of its values are multiples of the prime.
 */

/** A part of activity: the columns that contain it. */
export type Row = readonly number[];

/** People whom nothing published tells apart, and the rows that each of them has. */
interface Alike {
  readonly people: readonly number[];
  readonly rows: readonly Int32Array[];
}

/** Counts the work of a test, so that it ends after a bounded time, and equal input gives equal results. */
export interface Effort {
  left: number;
}

/**
 * Looks for 1 to `k` − 1 people whom a combination of the sums is about. Returns them, by their positions, perhaps with others who
 * are among them; or null if there are none. If that could not be excluded with the effort, the result is empty: who then
 * publishes less is safe.
 * @param people the rows of each person.
 */
export function singledOut(
  people: readonly (readonly Row[])[],
  k: number,
  effort: Effort,
): readonly number[] | null {
  const { alike, width } = alikeOf(people);
  return leftOutside(alike, { rank: null, width, most: k - 1 }, effort);
}

function alikeOf(people: readonly (readonly Row[])[]): { alike: Alike[]; width: number } {
  const columns = new Map<number, number>();
  const columnOf = (column: number) => {
    const known = columns.get(column) ?? columns.size;
    columns.set(column, known);
    return known;
  };
  const found = new Map<string, { people: number[]; rows: readonly Row[] }>();
  for (const [person, rows] of people.entries()) {
    const own = [...new Map(rows.map((row) => [row.join(), row])).entries()].toSorted(([a], [b]) =>
      a < b ? -1 : 1,
    );
    const key = own.map(([text]) => text).join(';');
    const known = found.get(key);
    if (known !== undefined) known.people.push(person);
    else found.set(key, { people: [person], rows: own.map(([, row]) => row.map(columnOf)) });
  }
  const width = columns.size;
  const dense = (row: Row) => {
    const vector = new Int32Array(width);
    for (const column of row) vector[column] = 1;
    return vector;
  };
  const alike = [...found.values()].map(({ people: own, rows }) => ({ people: own, rows: rows.map(dense) }));
  return { alike, width };
}

/** A space of rows, and how many people a hyperplane may leave out to count as a leak. */
interface Question {
  /** The number of independent rows of the space; null for the space that the rows of the people span. */
  readonly rank: number | null;
  readonly width: number;
  readonly most: number;
}

/**
 * The people whom a hyperplane of the space leaves out, if these are `most` or fewer; null if there is no such hyperplane. Of each set
 * of people that spans the space, at least one is left out. So with more disjoint sets than `most` there is none; with fewer sets,
 * one of them has few who are left out, and these are tried.
 */
function leftOutside(
  alike: readonly Alike[],
  { rank, width, most }: Question,
  effort: Effort,
): readonly number[] | null {
  if (rank === 0 || (rank === null && alike.length === 0)) return null;
  const inside = contractLines(alike, { rank, width, most }, effort);
  if (inside !== null) return leftOutside(inside.alike, { ...inside, most }, effort);
  const sets = spanningSets(alike, { rank, width, most }, effort);
  if (sets.length === 0) return [];
  if (sets.length > most) return null;
  const tried = Math.floor(most / sets.length);
  for (const set of sets) {
    const coordinates = new Coordinates(
      set.map(({ row }) => row),
      width,
    );
    const owners = [...new Set(set.map(({ owner }) => owner))];
    for (const out of subsetsOf(owners, tried)) {
      const people = out.flatMap((own) => own.people);
      if (people.length > most) continue;
      const kept = set.flatMap(({ owner }, index) => (out.includes(owner) ? [index] : []));
      effort.left -= alike.length * kept.length;
      if (effort.left < 0) return [];
      const seen = inCoordinates(
        alike.filter((each) => !out.includes(each)),
        (row) => coordinates.of(row, kept, effort),
      );
      const question = { rank: kept.length, width: kept.length, most: most - people.length };
      const further = leftOutside(seen, question, effort);
      if (further !== null) return effort.left < 0 ? [] : [...people, ...further];
    }
  }
  return null;
}

/** People with their rows as a function gives them; without those of whom nothing is left. */
function inCoordinates(alike: readonly Alike[], of: (row: Int32Array) => Int32Array): Alike[] {
  return alike.flatMap(({ people, rows }) => {
    const own = rows.map(of).filter(isAny);
    return own.length === 0 ? [] : [{ people, rows: own }];
  });
}

/** A row of a spanning set, and the people who have it. */
interface SpanningRow {
  readonly row: Int32Array;
  readonly owner: Alike;
}

/**
 * Sets of rows that span the space each, of different people: up to `most` + 1. People who are alike count one by one, so they are in
 * as many sets as they are.
 */
function spanningSets(
  alike: readonly Alike[],
  { rank, width, most }: Question,
  effort: Effort,
): (readonly SpanningRow[])[] {
  const order = mixed(alike);
  const left = new Map(order.map((each) => [each, each.people.length]));
  const sets: SpanningRow[][] = [];
  let whole = rank;
  while (sets.length <= most) {
    const span = new Span(width);
    const set: SpanningRow[] = [];
    for (const owner of order) {
      const copies = left.get(owner) ?? 0;
      if (copies === 0 || span.rank === whole || effort.left < 0) continue;
      const own = owner.rows.filter((row) => span.add(row, effort));
      if (own.length === 0) continue;
      left.set(owner, copies - 1);
      for (const row of own) set.push({ row, owner });
    }
    whole ??= span.rank;
    if (span.rank < whole || effort.left < 0) return sets;
    sets.push(set);
  }
  return sets;
}

/**
 * People in an order without a pattern, the same for equal input. Where many people are, most of the space is spanned before one
 * of a small group comes, so that each spanning set gets few of these.
 */
function mixed(alike: readonly Alike[]): readonly Alike[] {
  const order = [...alike];
  let state = 1;
  for (let last = order.length - 1; last > 0; last -= 1) {
    state = (state * MULTIPLIER) % PRIME;
    const other = state % (last + 1);
    const [a, b] = [order[last], order[other]];
    if (a !== undefined) order[other] = a;
    if (b !== undefined) order[last] = b;
  }
  return order;
}

/** Its powers are all remainders but 0. */
const MULTIPLIER = 397;

/**
 * Rows on one line are in a hyperplane together. If more people than `most` have such rows, the hyperplane must hold the line:
 * then what remains to be examined is the space without it. Null if there is no such line.
 */
function contractLines(
  alike: readonly Alike[],
  { rank, width, most }: Question,
  effort: Effort,
): (Pick<Question, 'rank' | 'width'> & { readonly alike: readonly Alike[] }) | null {
  const lines = new Map<string, { people: number; row: Int32Array }>();
  for (const { people, rows } of alike) {
    for (const [key, row] of new Map(rows.map((own) => [lineOf(own), own]))) {
      effort.left -= width;
      const line = lines.get(key) ?? { people: 0, row };
      line.people += people.length;
      lines.set(key, line);
    }
  }
  const held = [...lines.values()].filter(({ people }) => people > most);
  if (held.length === 0) return null;
  const span = new Span(width);
  for (const { row } of held) span.add(row, effort);
  const seen = inCoordinates(alike, (row) => span.outside(row, effort));
  return { alike: seen, rank: rank === null ? null : rank - span.rank, width: width - span.rank };
}

/** The same text for rows of which one is a multiple of the other. */
function lineOf(row: Int32Array): string {
  const first = row.find((value) => value !== 0) ?? 0;
  if (first <= 1) return row.join();
  const factor = inverseOf(first);
  return row.map((value) => (value * factor) % PRIME).join();
}

function isAny(row: Int32Array): boolean {
  return row.some((value) => value !== 0);
}

/** The sets of 1 to `most` items. */
function* subsetsOf<Item>(items: readonly Item[], most: number): Generator<readonly Item[]> {
  if (most === 0) return;
  for (const [index, item] of items.entries()) {
    yield [item];
    for (const others of subsetsOf(items.slice(index + 1), most - 1)) yield [item, ...others];
  }
}

/** The largest prime whose square fits into 31 bits, so that products of two remainders do. */
const PRIME = 46_337;

function inverseOf(value: number): number {
  let result = 1;
  for (let [base, power] = [value, PRIME - 2]; power > 0; power = Math.floor(power / 2)) {
    if (power % 2 === 1) result = (result * base) % PRIME;
    base = (base * base) % PRIME;
  }
  return result;
}

/** The space that rows span, by elimination. */
class Span {
  readonly #rows: { readonly row: Int32Array; readonly pivot: number }[] = [];
  readonly #width: number;

  constructor(width: number) {
    this.#width = width;
  }

  get rank(): number {
    return this.#rows.length;
  }

  /** Adds a row. False if the space held it already. */
  add(row: Int32Array, effort: Effort): boolean {
    const rest = this.#reduce(row, effort);
    const pivot = rest.findIndex((value) => value !== 0);
    if (pivot === -1) return false;
    const factor = inverseOf(rest[pivot] ?? 0);
    this.#rows.push({ row: rest.map((value) => (value * factor) % PRIME), pivot });
    return true;
  }

  /** What a row adds to the space, in the columns that the space leaves free. */
  outside(row: Int32Array, effort: Effort): Int32Array {
    const pivots = new Set(this.#rows.map(({ pivot }) => pivot));
    return this.#reduce(row, effort).filter((_, column) => !pivots.has(column));
  }

  #reduce(row: Int32Array, effort: Effort): Int32Array {
    const rest = row.slice();
    for (const { row: own, pivot } of this.#rows) {
      const factor = rest[pivot] ?? 0;
      if (factor === 0) continue;
      effort.left -= this.#width;
      subtract(rest, own, factor);
    }
    return rest;
  }
}

function subtract(rest: Int32Array, row: Int32Array, factor: number): void {
  const minus = PRIME - factor;
  for (let column = 0; column < rest.length; column += 1)
    rest[column] = ((rest[column] ?? 0) + minus * (row[column] ?? 0)) % PRIME;
}

/** The coordinates of rows in a basis of their space. */
class Coordinates {
  readonly #pivots: readonly number[];
  /** By pivot, what it adds to each coordinate. */
  readonly #inverse: readonly Int32Array[];

  constructor(basis: readonly Int32Array[], width: number) {
    // Each row beside a row of the unit matrix, which elimination turns into the inverse.
    const rows = basis.map((row, index) => {
      const wide = new Int32Array(width + basis.length);
      wide.set(row);
      wide[width + index] = 1;
      return wide;
    });
    const pivots: number[] = [];
    for (const [index, row] of rows.entries()) {
      const pivot = row.findIndex((value) => value !== 0);
      const factor = inverseOf(row[pivot] ?? 0);
      for (const [column, value] of row.entries()) row[column] = (value * factor) % PRIME;
      for (const [other, own] of rows.entries()) {
        const by = own[pivot] ?? 0;
        if (other !== index && by !== 0) subtract(own, row, by);
      }
      pivots.push(pivot);
    }
    this.#pivots = pivots;
    this.#inverse = rows.map((row) => row.slice(width));
  }

  /** The coordinates of a row at the given positions of the basis. */
  of(row: Int32Array, kept: readonly number[], effort: Effort): Int32Array {
    effort.left -= kept.length * this.#pivots.length;
    const found = new Int32Array(kept.length);
    for (const [index, pivot] of this.#pivots.entries()) {
      const value = row[pivot] ?? 0;
      if (value === 0) continue;
      for (const [place, at] of kept.entries())
        found[place] = ((found[place] ?? 0) + value * (this.#inverse[index]?.[at] ?? 0)) % PRIME;
    }
    return found;
  }
}
