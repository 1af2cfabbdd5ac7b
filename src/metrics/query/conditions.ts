import { type Dimension, type Source, UNNAMED } from '../../../schema/metrics/dictionary.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { PSEUDONYM_LIKE } from '../../privacy/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { conditionsOf, needsTeam, type Plan } from './plan.ts';

/** The conditions on the user `r` and the team `t` of a row, and on its dimensions; none without a filter. */
export function filterConditions(plan: Plan): SQL[] {
  return [
    ...userConditions(plan),
    ...(needsTeam(plan) ? teamConditions(plan) : []),
    ...conditionsOf(plan).map((dimension) =>
      equals(expressionOf(plan, dimension), plan.where[dimension] ?? null),
    ),
    ...exceptConditions(plan, (dimension, value) => isOfGroup(plan, dimension, value)),
  ];
}

/** The condition that a row `r` with the team `t` has the value that its group has in an answer. */
function isOfGroup(plan: Plan, dimension: Dimension, value: string | null): SQL {
  const { phrases, source } = plan;
  switch (dimension) {
    case 'date':
      return equals(phrases.textOf(sql`r.date`), value);
    case 'week':
      return equals(phrases.textOf(phrases.weekOf(sql`r.date`)), value);
    case 'month':
      return equals(phrases.monthOf(sql`r.date`), value);
    case 'team':
      return equals(sql`t.team`, value);
    case 'user': {
      if (value !== null && UNNAMED_NAMES.includes(value)) return sql.raw(IS_UNNAMED);
      return equals(sql`r.user_id`, value);
    }
    default:
      return equals(columnsOf(source, dimension), value);
  }
}

/** The conditions on the user of a row; none without a filter. */
export function userConditions({ user }: Plan): SQL[] {
  return user === undefined ? [] : [sql`r.user_id = ${user}`];
}

/** The conditions on the team of a row `r` with the team `t`; none without a filter. */
function teamConditions({ team, phrases, orgId }: Plan): SQL[] {
  if (team === undefined) return [];
  return [team === null ? sql`t.team IS NULL` : phrases.ofTeam(orgId, team)];
}

/** SQLite limits how deep an expression is, and a chain of ORs is as deep as it is long. */
const CHAIN_MAX = 50;

/**
 * The condition that a row belongs to none of the groups that are left out; none if there are none.
 * @param isOf the condition that a row has a value of a dimension
 */
export function exceptConditions(
  { except }: Pick<Plan, 'except'>,
  isOf: (dimension: Dimension, value: string | null) => SQL,
): SQL[] {
  if (except === undefined || except.groups.length === 0) return [];
  const groups = except.groups.map(
    (group) =>
      sql`(${sql.join(
        except.by.map((dimension) => isOf(dimension, group[dimension] ?? null)),
        sql` AND `,
      )})`,
  );
  // A comparison with NULL is not false; CASE takes it for false.
  return [sql`CASE WHEN ${anyOf(groups)} THEN 0 ELSE 1 END = 1`];
}

function anyOf(conditions: readonly SQL[]): SQL {
  if (conditions.length <= CHAIN_MAX) return sql.join([...conditions], sql`\n      OR `);
  const parts: SQL[] = [];
  for (let start = 0; start < conditions.length; start += CHAIN_MAX) {
    parts.push(sql`(${anyOf(conditions.slice(start, start + CHAIN_MAX))})`);
  }
  return anyOf(parts);
}

/** The condition that an expression has a value. */
export function equals(expression: SQL, value: string | null): SQL {
  return value === null ? sql`${expression} IS NULL` : sql`${expression} = ${value}`;
}

/** The fewest people without a name that are a group of their own; fewer are unassigned. */
const UNNAMED_MIN = 5;
const IS_UNNAMED = `r.user_id LIKE '${PSEUDONYM_LIKE}'`;
/** What the groups of people without a name are called: of many, and where they are too few for one. */
const UNNAMED_NAMES: readonly string[] = [UNNAMED, UNASSIGNED];

/** How rows by user have people for whom pseudonyms stand as one group, and nobody of them alone. */
export const UNNAMED_GROUP = {
  /** The user of a row `r`. */
  user: sql.raw(`CASE WHEN ${IS_UNNAMED} THEN '${UNNAMED}' ELSE r.user_id END`),
  /** A column of groups with the number of these people in each. */
  people: sql.raw(`COUNT(DISTINCT CASE WHEN ${IS_UNNAMED} THEN r.user_id END) AS unnamed_people`),
  /** The user of a group `f`. */
  name: sql.raw(
    `CASE WHEN f.unnamed_people BETWEEN 1 AND ${UNNAMED_MIN - 1} THEN '${UNASSIGNED}' ELSE f.user_id END`,
  ),
};

/** True if the question has a group for each user, and one for people without a name. */
export function groupsUnnamed({
  by,
  source,
  countsEach,
}: Pick<Plan, 'by' | 'source' | 'countsEach'>): boolean {
  return source.hasUsers && by.includes('user') && !countsEach;
}

/** The expression of a dimension over the rows `r` of the source of a plan. */
export function expressionOf(plan: Plan, dimension: Dimension): SQL {
  const { source } = plan;
  if (source.hasUsers && dimension === 'user')
    return groupsUnnamed(plan) ? UNNAMED_GROUP.user : sql`r.user_id`;
  return columnsOf(source, dimension);
}

/** The expression of a dimension over the columns of the rows `r` of a source. */
export function columnsOf(source: Source, dimension: Dimension): SQL {
  const [first, ...rest] = source.columns[dimension] ?? [];
  if (first === undefined) throw new TypeError(`${source.table.name} has no dimension ${dimension}`);
  const parts = rest.map((column) => `CASE WHEN r.${column} <> '' THEN ' / ' || r.${column} ELSE '' END`);
  return sql.raw([`r.${first}`, ...parts].join(' || '));
}
