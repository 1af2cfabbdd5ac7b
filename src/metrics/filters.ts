import {
  DIMENSIONS,
  type Dimension,
  GRAINS,
  type Grain,
  isGrain,
  type Metric,
} from '../../schema/metrics/dictionary.ts';
import { type SQL, sql } from '../../schema/query.ts';
import { FIRST_DAY, parseDay, parseMonth, parseWeek, shiftDay, type UtcDay } from '../core/day.ts';
import { nearestName, UsageError } from '../core/errors.ts';
import { contractOf, whyNotKept } from '../expected/index.ts';
import { runReads, type Warehouse } from '../port/index.ts';
import type { AskedPeriod } from './period.ts';
import { columnsOf, equals } from './query/conditions.ts';
import { checkFilter, checkUser, findMetric, findTeam, type MetricQuestion } from './question.ts';

/** The word for rows that name no value of a dimension. */
const NO_VALUE = 'none';

/** The filters of a question, as `MetricQuestion` has them. */
type Filtered = Pick<MetricQuestion, 'team' | 'user' | 'where' | 'from' | 'until'>;

/** What is filtered, and what is given besides the filters. */
interface FilteredQuestion extends AskedPeriod {
  readonly orgId: string;
  readonly metric: string;
  /** Only rows with these values, as answers show them; {@link NO_VALUE} for rows that name none. */
  readonly filters: Readonly<Partial<Record<Dimension, string>>>;
  /** Days from it on have no data; a month or week that is not over ends with the newest loaded day. */
  readonly today: UtcDay;
}

/**
 * Turns filters into parts of a question: a date, week or month becomes its period; a team and a user are found; any other value
 * must occur in a row of the metric, because the answer would be 0 for a misspelt one.
 * @throws {UsageError} for a dimension that the metric does not have, for two periods, and for an unknown value.
 */
export async function resolveFilters(
  warehouse: Pick<Warehouse, 'select'>,
  { orgId, metric: name, filters, from, until, today }: FilteredQuestion,
): Promise<Filtered> {
  const metric = findMetric(name);
  let found: Filtered = { from, until };
  for (const dimension of DIMENSIONS) {
    const value = filters[dimension];
    if (value === undefined) continue;
    checkFilter(metric, dimension, true);
    if (isGrain(dimension)) found = { ...found, ...periodOf(dimension, value, found, today) };
    else if (dimension === 'team') found = { ...found, team: await findTeam(warehouse, orgId, value) };
    else if (dimension === 'user') {
      await checkUser(warehouse, orgId, value);
      found = { ...found, user: value };
    } else {
      const known = await knownValue(warehouse, { orgId, metric, dimension, value });
      found = { ...found, where: { ...found.where, [dimension]: known } };
    }
  }
  return found;
}

function periodOf(grain: Grain, value: string, given: AskedPeriod, today: UtcDay): AskedPeriod {
  if (given.from !== undefined || given.until !== undefined) {
    throw new UsageError(`the filter ${grain} is a period, and a period is given already`, {
      hint: `give a first and a last day, or one of ${GRAINS.join(', ')}`,
    });
  }
  const [from, until] = daysOf(grain, value);
  return {
    from: from < FIRST_DAY && until >= FIRST_DAY ? FIRST_DAY : from,
    until: until < today ? until : undefined,
  };
}

const WEEK_LAST = 6;

function daysOf(grain: Grain, value: string): readonly [UtcDay, UtcDay] {
  if (grain === 'month') {
    const { first, last } = parseMonth(value);
    return [first, last];
  }
  const first = grain === 'week' ? parseWeek(value) : parseDay(value);
  return [first, grain === 'week' ? shiftDay(first, WEEK_LAST) : first];
}

/** More values than this do not help as a hint. */
const VALUES_MAX = 10;

interface SoughtValue {
  readonly orgId: string;
  readonly metric: Metric;
  readonly dimension: Dimension;
  readonly value: string;
}

async function knownValue(
  warehouse: Pick<Warehouse, 'select'>,
  { orgId, metric, dimension, value }: SoughtValue,
): Promise<string | null> {
  const { source, breakdown } = metric;
  const own = source.columns[dimension] === undefined && breakdown !== undefined ? breakdown : source;
  const expression = columnsOf(own, dimension);
  const rows = sql`FROM ${sql.raw(own.table.name)} r WHERE r.org_id = ${orgId}`;
  const occurs = async (condition: SQL) =>
    (await warehouse.select(sql`SELECT 1 AS found ${rows} AND ${condition} LIMIT 1`)).length > 0;
  if (await occurs(equals(expression, value))) return value;
  if (value === NO_VALUE && (await occurs(equals(expression, null)))) return null;
  const distinct = await warehouse.select(sql`SELECT DISTINCT ${expression} AS name ${rows}`);
  const names = distinct.flatMap(({ name }) => (typeof name === 'string' ? name : [])).toSorted();
  const nearest = nearestName(value, names);
  const notKept = whyNotKept(await runReads(warehouse, contractOf(orgId)), [own.stream]);
  throw new UsageError(`no row is of the ${dimension} "${value}"`, {
    hint: notKept ?? (nearest === undefined ? hintFor(names) : `did you mean ${nearest}?`),
  });
}

function hintFor(names: readonly string[]): string {
  if (names.length === 0) return 'nothing is stored of it yet';
  const more = names.length > VALUES_MAX ? `, and ${names.length - VALUES_MAX} more` : '';
  return `choose from ${names.slice(0, VALUES_MAX).join(', ')}${more}`;
}
