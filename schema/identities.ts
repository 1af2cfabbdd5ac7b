import type { AnyTable } from './define.ts';
import { positionsOf, type Values } from './row.ts';
import { allTables } from './tables.ts';

/** A figure of a day: a column, added up over the day's rows of its table; null for the number of rows with activity. */
export interface Figure {
  readonly table: AnyTable;
  readonly column: string | null;
}

/**
 * Two figures of one day, of different streams, that are equal if both streams are right. The specification supports those that
 * are `isSpecified` (section 2.4: daily_active_users counts unique users); for the others, the data of an organization
 * decide whether they hold, see `src/judge/identities.ts`.
 */
export interface Identity {
  /** `user_daily.tool_calls = tools_daily.tool_calls` */
  readonly name: string;
  readonly left: Figure;
  readonly right: Figure;
  readonly isSpecified: boolean;
}

/** Every identity, as the tables declare them. */
export const IDENTITIES: readonly Identity[] = allTables.flatMap((table) =>
  (table.addsUp ?? []).map(({ column = null, of, figure, isSpecified = false }) => {
    const [left, right] = [
      { table, column },
      { table: of, column: figure },
    ];
    return { name: `${figureName(left)} = ${figureName(right)}`, left, right, isSpecified };
  }),
);

/** Names a figure: `tools_daily.tool_calls`, `user_daily.rows`. */
export function figureName({ table, column }: Figure): string {
  return `${table.name}.${column ?? 'rows'}`;
}

/** Relative difference up to which figures count as equal: sums of doubles depend on their order. */
const TOLERANCE = 1e-9;

/** True for figures that are equal but for rounding. */
export function areEqual(a: number, b: number): boolean {
  return Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/** True if an identity compares numbers of people, which the ledger has in `active_users`. */
export function isOfPeople({ left }: Identity): boolean {
  return left.column === null;
}

const columns = new Map<AnyTable, string[]>();
for (const { left, right } of IDENTITIES.filter((identity) => !isOfPeople(identity))) {
  for (const { table, column } of [left, right]) {
    const own = columns.get(table) ?? [];
    columns.set(table, column === null ? own : [...own, column]);
  }
}

/** The columns of a table that identities add up. */
export function addedColumns(table: AnyTable): readonly string[] {
  return columns.get(table) ?? [];
}

/** The sums that identities compare of a stream, in the order in which the ledger keeps them. */
export function figuresOfStream(stream: string): Figure[] {
  return [...columns].flatMap(([table, own]) =>
    table.stream === stream ? own.map((column) => ({ table, column })) : [],
  );
}

/** Adds up the columns of a table that identities compare. A column in which a row has no value has no sum. */
export class ColumnSums {
  readonly #positions: readonly number[];
  readonly #sums: Float64Array;

  constructor(table: AnyTable) {
    this.#positions = positionsOf<AnyTable>(table, addedColumns(table));
    this.#sums = new Float64Array(this.#positions.length);
  }

  add(row: Values): void {
    for (const [index, position] of this.#positions.entries()) {
      const value = row[position];
      this.#sums[index] = (this.#sums[index] ?? 0) + (typeof value === 'number' ? value : Number.NaN);
    }
  }

  /** In the order of {@link addedColumns}. */
  get values(): readonly (number | null)[] {
    return [...this.#sums].map((sum) => (Number.isNaN(sum) ? null : sum));
  }
}
