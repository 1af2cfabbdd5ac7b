import type { AnyTable } from './define.ts';
import { additiveColumns, columnsOf, positionsOf, type Value, type Values } from './row.ts';
import { userDaily } from './tables/daily.ts';

/**
 * What the values of one row must satisfy. NULL satisfies everything. `impossible` values contradict the specification
 * (sections 2.4 and 2.5) or arithmetic; `unusual` ones only what is likely.
 */
export interface Invariant {
  readonly table: AnyTable;
  readonly column: string;
  readonly relation: '≥' | '≤';
  /** A number, or a column of the same row or of the row of another table for the same day. */
  readonly bound: number | { readonly table: AnyTable; readonly column: string };
  readonly severity: 'impossible' | 'unusual';
}

/** What a violated invariant says about a row. */
export type Severity = Invariant['severity'];

/** The invariants of a table that the service fills, as its columns declare them; none for other tables. */
export function invariantsOf(table: AnyTable): Invariant[] {
  if (table.stream === null) return [];
  const bounds = columnsOf(table).flatMap((column): Invariant[] => {
    const { least, usual } = table.columns[column] ?? {};
    const at = { table, column };
    return [
      ...(least === undefined
        ? []
        : [{ ...at, relation: '≥', bound: least, severity: 'impossible' } as const]),
      ...(usual === undefined
        ? []
        : [
            { ...at, relation: '≥', bound: usual[0], severity: 'unusual' } as const,
            { ...at, relation: '≤', bound: usual[1], severity: 'unusual' } as const,
          ]),
    ];
  });
  const orders = (table.ascending ?? []).map(
    ({ smaller, larger, of = table }): Invariant => ({
      table,
      column: smaller,
      relation: '≤',
      bound: { table: of, column: larger },
      severity: 'impossible',
    }),
  );
  return [...bounds, ...orders];
}

/** Names an invariant: `user_daily.user_messages ≤ messages`. */
export function invariantName({ table, column, relation, bound }: Invariant): string {
  return `${table.name}.${column} ${relation} ${boundName(table, bound)}`;
}

function boundName(table: AnyTable, bound: Invariant['bound']): string {
  if (typeof bound === 'number') return String(bound);
  return bound.table === table ? bound.column : `${bound.table.name}.${bound.column}`;
}

/** Says how a row violates an invariant: `user_messages is 12, which is more than messages (10)`. */
export function violationText(invariant: Invariant, row: Values, dayRow?: Values): string {
  const { table, column, relation, bound } = invariant;
  const found = cellOf(table, column, row);
  const than = relation === '≥' ? 'less than' : 'more than';
  if (typeof bound === 'number') return `${column} is ${found}, which is ${than} ${bound}`;
  const limit = cellOf(bound.table, bound.column, bound.table === table ? row : dayRow);
  return `${column} is ${found}, which is ${than} ${boundName(table, bound)} (${limit})`;
}

function cellOf(table: AnyTable, column: string, row: Values | undefined): Value {
  const [position = 0] = positionsOf(table, [column]);
  return row?.[position] ?? null;
}

/**
 * Finds the first invariant that a row violates; null if there is none.
 * @param dayRow the row of the other table for the same day. Without it, comparisons with that table are left out.
 */
export type InvariantCheck = (row: Values, dayRow?: Values) => Invariant | null;

/**
 * Compiles the check of a table. Every record of a first sync passes it, so it is compiled into one expression at run time; if
 * Node.js forbids code generation, the invariants are tried one after the other.
 */
export function invariantCheck(table: AnyTable, severity: Severity = 'impossible'): InvariantCheck {
  const invariants = invariantsOf(table).filter((invariant) => invariant.severity === severity);
  if (invariants.length === 0) return () => null;
  const indexOf = compiled(invariants.map(accessOf));
  return (row, dayRow) => invariants[indexOf(row, dayRow ?? NO_ROW)] ?? null;
}

const NO_ROW: Values = [];

/** The positions that an invariant compares. */
interface Access {
  readonly column: number;
  readonly relation: Invariant['relation'];
  readonly bound: number | { readonly of: 'row' | 'dayRow'; readonly position: number };
}

function accessOf({ table, column, relation, bound }: Invariant): Access {
  const [own = 0] = positionsOf(table, [column]);
  if (typeof bound === 'number') return { column: own, relation, bound };
  const [position = 0] = positionsOf(bound.table, [bound.column]);
  return { column: own, relation, bound: { of: bound.table === table ? 'row' : 'dayRow', position } };
}

type IndexOf = (row: Values, dayRow: Values) => number;

/** A function that returns the index of the first violated invariant, or −1. */
function compiled(accesses: readonly Access[]): IndexOf {
  const tests = accesses.map(({ column, relation, bound }, index) => {
    const operator = relation === '≥' ? '<' : '>';
    const limit = typeof bound === 'number' ? String(bound) : `${bound.of}[${bound.position}]`;
    // A comparison with NULL would take it for 0, and one with undefined is false.
    const known = typeof bound === 'number' ? '' : ` && ${limit} !== null`;
    return `row[${column}] ${operator} ${limit} && row[${column}] !== null${known} ? ${index}`;
  });
  try {
    return new Function('row', 'dayRow', `return ${tests.join(' : ')} : -1;`) as IndexOf;
  } catch (error) {
    if (!(error instanceof EvalError)) throw error;
    return (row, dayRow) => accesses.findIndex((access) => isViolated(access, row, dayRow));
  }
}

function isViolated({ column, relation, bound }: Access, row: Values, dayRow: Values): boolean {
  const value = row[column];
  const limit = typeof bound === 'number' ? bound : (bound.of === 'row' ? row : dayRow)[bound.position];
  if (typeof value !== 'number' || typeof limit !== 'number') return false;
  return relation === '≥' ? value < limit : value > limit;
}

/** A figure of a day: a column, added up over the day's rows of its table; null for the number of rows with activity. */
export interface Figure {
  readonly table: AnyTable;
  readonly column: string | null;
  readonly stream: string;
  /** Its position among the sums that the ledger keeps of a unit; null for people, whom it counts in `active_users`. */
  readonly index: number | null;
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

const sums: Figure[] = [];

/** Every identity, as the tables declare them. */
export const IDENTITIES: readonly Identity[] = (userDaily.addsUp ?? []).map(
  ({ column = null, of, figure, isSpecified = false }) => {
    const [left, right] = [figureOf(userDaily, column, column), figureOf(of, figure, column)];
    return { name: `${figureName(left)} = ${figureName(right)}`, left, right, isSpecified };
  },
);

function figureOf(table: AnyTable, column: string | null, counted: string | null): Figure {
  const stream = String(table.stream);
  if (counted === null) return { table, column, stream, index: null };
  const figure = { table, column, stream, index: sumsOfStream(stream).length };
  sums.push(figure);
  return figure;
}

/** Names a figure: `tools_daily.tool_calls`, `user_daily.rows`. */
export function figureName({ table, column }: Pick<Figure, 'table' | 'column'>): string {
  return `${table.name}.${column ?? 'rows'}`;
}

/** The sums that identities compare of a stream, in the order in which the ledger keeps them. */
export function sumsOfStream(stream: string): Figure[] {
  return sums.filter((figure) => figure.stream === stream);
}

/** Where the sum of a figure stands in `EncodedRows.sums` of its table. */
export function positionOfSum({ table, column }: Figure): number {
  return additiveColumns(table).indexOf(column ?? '');
}
