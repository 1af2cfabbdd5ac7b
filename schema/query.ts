import { CasingCache } from 'drizzle-orm/casing';
import { SQL, sql } from 'drizzle-orm/sql';

export { SQL, sql };

/** A database that a warehouse can be in. */
export type Dialect = 'sqlite' | 'postgres';

/** A statement as a driver takes it: text with placeholders, and the values of these in order. */
interface CompiledQuery {
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

/**
 * Compiles a query for a database. Values become parameters, never text.
 *
 * @example
 * compileQuery(sql`SELECT date FROM tokens_daily WHERE org_id = ${orgId}`, 'postgres');
 * // { text: 'SELECT date FROM tokens_daily WHERE org_id = $1', values: [orgId] }
 */
export function compileQuery(query: SQL, dialect: Dialect): CompiledQuery {
  const placeholder = dialect === 'sqlite' ? () => '?' : (index: number) => `$${index + 1}`;
  const { sql: text, params } = query.toQuery(configOf(placeholder));
  return { text, values: params.map(parameterOf) };
}

/** The text of a query with its values written as literals, for people to read and to copy. */
export function queryText(query: SQL): string {
  return sql`${query}`.inlineParams().toQuery(configOf(() => '?')).sql;
}

/**
 * The text of a query in which some values are replaced by SQL expressions, such as the variable of another tool. The other
 * values are written as literals.
 * @param expressions the expression of each value to replace. It replaces every parameter with that value.
 */
export function queryTemplate(query: SQL, expressions: ReadonlyMap<string, string>): string {
  const textOf = (value: unknown) =>
    (typeof value === 'string' ? expressions.get(value) : undefined) ?? literalOf(parameterOf(value));
  return query.toQuery(configOf((_, value) => textOf(value))).sql;
}

function literalOf(value: string | number | null): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  return value === null ? 'NULL' : String(value);
}

function configOf(escapeParam: (index: number, value: unknown) => string) {
  return {
    escapeName: (name: string) => `"${name.replaceAll('"', '""')}"`,
    escapeParam,
    escapeString: (text: string) => `'${text.replaceAll("'", "''")}'`,
    casing: new CasingCache(),
  };
}

function parameterOf(value: unknown): string | number | null {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value;
  throw new TypeError(`a query has a parameter of type ${typeof value}`);
}

/** Parts of a query as a list. */
export function listOf(parts: readonly (SQL | ReturnType<typeof sql.identifier>)[]): SQL {
  return sql.join([...parts], sql`, `);
}

/**
 * The condition that the price `p` is valid on a day, as `validOn` of `schema/row.ts` decides it for rows in memory.
 * @param day an expression
 */
export const pricedOn = (day: string) =>
  `${day} >= p.valid_from AND (p.valid_to IS NULL OR ${day} <= p.valid_to)`;

/**
 * 1 on the working days of an organization, Mondays to Fridays that no event closes for all, and 0 on other days.
 * @param day alias of the table `dates`
 * @param orgId an expression
 */
export const workingDay = (day: string, orgId: string) =>
  `CASE WHEN ${day}.is_weekend OR EXISTS (SELECT 1 FROM events e
      WHERE e.org_id = ${orgId} AND e.date = ${day}.date AND e.team = '' AND e.closed) THEN 0 ELSE 1 END`;

/**
 * True for a unit whose numbers the warehouse knows, as `isStored` of `src/units/` decides it for rows in memory.
 * @param unit alias of the table `export_units`
 */
export const storedUnit = (unit: string) =>
  `(${unit}.state IN ('loaded', 'empty', 'doubted')
      OR (${unit}.state = 'awaiting' AND CAST(${unit}.watch AS TEXT) LIKE '%"settlesOn"%')
      OR (${unit}.rows > 0 AND ${unit}.first_loaded_at IS NOT NULL))`;

/** True for a unit of this alias that is settled. A doubted one is open; one that settled by its age alone was never confirmed. */
export const settledUnit = (unit: string) =>
  `(${unit}.settled_at IS NOT NULL AND ${unit}.state <> 'doubted' AND COALESCE(${unit}.confirmed, '') <> 'age')`;

/**
 * What a month will have used, from what some of its working days have. NULL without a working day so far. A month whose working
 * days are all among them is not multiplied, so that no rounding puts it above its budget.
 */
export const forecastOf = ({ soFar, days, of }: { soFar: string; days: string; of: string }) =>
  `CASE WHEN ${days} = ${of} THEN ${soFar} ELSE ${soFar} * ${of} / NULLIF(${days}, 0) END`;

/** A state of a budget, and its condition: numbers that are not known, or one that is above the budget. */
export type BudgetRule = (typeof BUDGET_RULE)[number];

/**
 * The states of a budget whose prices have its currency. The first that applies is the state, and without any it is `ok`. The view
 * `budget_outlook` and `daywalk budget check` are made from this list.
 */
export const BUDGET_RULE = [
  { status: 'no data', unknown: ['cost_so_far', 'tokens_so_far'], above: undefined },
  { status: 'no price', unknown: ['cost_so_far'], above: undefined },
  { status: 'over budget', unknown: [], above: 'cost_so_far' },
  { status: 'forecast over budget', unknown: [], above: 'cost_forecast' },
] as const;

/** A number above the budget by no more than this factor is an error of rounding. */
export const BUDGET_ROUNDING = 1.000000001;
