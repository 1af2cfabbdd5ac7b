import {
  askableMetrics,
  type Dimension,
  dimensionsOf,
  GRAINS,
  type Grain,
  isGrain,
  type Metric,
} from '../../schema/metrics/dictionary.ts';
import { sql } from '../../schema/query.ts';
import type { UtcDay } from '../core/day.ts';
import { nearestName, UsageError } from '../core/errors.ts';
import { seenName } from '../core/json.ts';
import { contractOf, whyNotKept } from '../expected/index.ts';
import { runReads, type Warehouse } from '../port/index.ts';
import { isPseudonym } from '../privacy/index.ts';
import { UNASSIGNED } from '../rollups/index.ts';
import type { Period } from './period.ts';
import { conditionsOf, type DimensionValues, type GroupsLeftOut } from './query/plan.ts';

/** What to compute. */
export interface MetricQuestion {
  /** Name of a metric of the dictionary. */
  readonly metric: string;
  readonly orgId: string;
  /**
   * Metrics that one statement answers, this one among them, so that questions that differ in the metric only share it. Those
   * that cannot share it are left out.
   * @default the metric alone
   */
  readonly together?: readonly string[] | undefined;
  /** At most one of date, week and month. */
  readonly by: readonly Dimension[];
  /**
   * First day of the period.
   * @default the first expected day
   */
  readonly from?: UtcDay | undefined;
  /**
   * Last day of the period.
   * @default the newest loaded day of the stream that the metric is computed from
   */
  readonly until?: UtcDay | undefined;
  /** Only rows of this team on their date; null means without a team. */
  readonly team?: string | null | undefined;
  /** Only rows of this user ID. */
  readonly user?: string | undefined;
  /** Only rows with these values of dimensions other than time, team and user. */
  readonly where?: DimensionValues | undefined;
  /** Leaves out the rows of these groups of the answer to the same question cut by their dimensions. @default none */
  readonly except?: GroupsLeftOut | undefined;
  /** Gives each person for whom a pseudonym stands a group of the dimension `user`, to count people; no output may name these. @default false */
  readonly countsEach?: boolean | undefined;
}

/** Which days an answer rests on. */
export interface CoveredDays {
  /** Number of days in the period. */
  readonly expected: number;
  /** How many of them are stored and final. */
  readonly settled: number;
  /** Days that are stored but may still change: not settled, doubted, or never confirmed. */
  readonly unsettled: readonly UtcDay[];
  /** Days that are not stored. */
  readonly missing: readonly UtcDay[];
}

/** A row of an answer: the value, and the dimensions that were asked for by name. A user or team may be null. */
export type MetricRow = Readonly<Record<string, string | number | null>> & { readonly value: number | null };

/** The answer, as `daywalk metric --json` prints it. */
export interface MetricAnswer {
  readonly metric: string;
  readonly org_id: string;
  /** For example credits, users, sessions, EUR, or ratio. */
  readonly unit: string;
  readonly from: UtcDay;
  readonly until: UtcDay;
  /** In the order of the dimensions that were asked for, each ascending. */
  readonly rows: readonly MetricRow[];
  readonly days: CoveredDays;
  /** The run that last changed one of the units; null if none is stored. */
  readonly run_id: string | null;
  /** What limits the answer, one sentence each: people are not loaded, a price is missing. */
  readonly warnings: readonly string[];
}

/**
 * Checks that a metric has the dimensions and filters of a question. Returns the dimension that cuts the period.
 * @throws {UsageError} if it does not.
 */
export function checkDimensions(metric: Metric, question: MetricQuestion): Grain | undefined {
  const { by, where = {} } = question;
  const repeated = by.find((dimension, index) => by.indexOf(dimension) !== index);
  if (repeated !== undefined) {
    throw new UsageError(`the dimension ${repeated} is given twice`, { hint: 'name each dimension once' });
  }
  const grains = by.filter(isGrain);
  if (grains.length > 1) {
    throw new UsageError(`${metric.name} cannot be cut by ${grains.join(' and ')} at once`, {
      hint: `choose one of ${GRAINS.join(', ')}`,
    });
  }
  const own = dimensionsOf(metric);
  const foreign = by.find((dimension) => !own.includes(dimension));
  if (foreign !== undefined) {
    throw new UsageError(`${metric.name} has no dimension ${foreign}`, { hint: hintFor(metric, foreign) });
  }
  for (const dimension of conditionsOf({ where })) checkCondition(metric, dimension);
  checkFilter(metric, 'team', question.team !== undefined);
  checkFilter(metric, 'user', question.user !== undefined);
  return grains[0];
}

/**
 * Checks that a metric may be computed over a period cut by `grain`.
 * @throws {UsageError} if it is published for single days and would have to be added.
 */
export function checkAdditivity(
  { name, measure }: Metric,
  { by, where = {} }: MetricQuestion,
  { grain, period }: { readonly grain: Grain | undefined; readonly period: Period },
): void {
  if (measure.kind !== 'snapshot') return;
  const { instead, needs } = measure;
  if (grain !== 'date' && period.from !== period.until) {
    const over = { week: 'weeks', month: 'months', date: 'days', none: 'days' }[grain ?? 'none'];
    throw new UsageError(`${name} cannot be added over ${over}`, {
      hint: `${instead} can, or ask for it day by day`,
      reason: 'metric-not-additive',
      facts: { instead, grain: grain ?? '' },
    });
  }
  if (needs !== undefined && !by.includes(needs) && where[needs] === undefined) {
    throw new UsageError(`${name} cannot be added over values of ${needs}`, {
      hint: `ask for it by ${needs}`,
      reason: 'metric-needs-dimension',
      facts: { dimension: needs },
    });
  }
}

/**
 * Checks that a question names no single user where nothing is kept of them.
 * @param notKept why, see `whyNotKept`; null where users are kept
 * @throws {UsageError} if it does.
 */
export function expectKept({ name }: Metric, { by, user }: MetricQuestion, notKept: string | null): void {
  if (notKept === null || (user === undefined && !by.includes('user'))) return;
  throw new UsageError(`${name} cannot be cut by user: ${notKept}`, {
    hint: `ask for it without users, or for a metric that the service publishes, such as published_billable_tokens`,
  });
}

function checkCondition(metric: Metric, dimension: Dimension): void {
  if (isGrain(dimension) || dimension === 'team' || dimension === 'user') {
    throw new UsageError(`${dimension} is not a filter of this kind`, {
      hint: 'give a period, a team or a user instead',
    });
  }
  checkFilter(metric, dimension, true);
}

/**
 * Checks that a metric has a dimension that a question filters by.
 * @throws {UsageError} if it does not.
 */
export function checkFilter(metric: Metric, filter: Dimension, isGiven: boolean): void {
  if (!isGiven || dimensionsOf(metric).includes(filter)) return;
  throw new UsageError(`${metric.name} cannot be filtered by ${filter}`, { hint: hintFor(metric, filter) });
}

/** More names than this do not help. */
const NAMES_MAX = 5;

function hintFor(metric: Metric, dimension: Dimension): string {
  const others = askableMetrics.filter((other) => dimensionsOf(other).includes(dimension));
  const names = others.slice(0, NAMES_MAX).map(({ name }) => name);
  const more = others.length > NAMES_MAX ? ' and others' : '';
  return `it has ${dimensionsOf(metric).join(', ')}; ${dimension} is a dimension of ${names.join(', ')}${more}`;
}

/**
 * The metric of a name.
 * @throws {UsageError} if the dictionary has none.
 */
export function findMetric(name: string): Metric {
  const found = askableMetrics.find((metric) => metric.name === name);
  if (found !== undefined) return found;
  const names = askableMetrics.map((metric) => metric.name);
  const nearest = nearestName(name, names);
  throw new UsageError(`there is no metric "${name}"`, {
    hint: nearest === undefined ? 'daywalk metric lists the names' : `did you mean ${nearest}?`,
  });
}

/** More teams than this do not help as a hint. */
const TEAMS_MAX = 10;

type Source = Pick<Warehouse, 'select'>;

/**
 * The team that a person means by a name: null for {@link UNASSIGNED}.
 * @throws {UsageError} if nobody was ever in a team of this name, because the answer would be 0 for a misspelt one.
 */
export async function findTeam(warehouse: Source, orgId: string, name: string): Promise<string | null> {
  if (name === UNASSIGNED) return null;
  const found = await warehouse.select(sql`SELECT DISTINCT team FROM people WHERE org_id = ${orgId}`);
  const teams = found.flatMap(({ team }) => (typeof team === 'string' ? team : [])).toSorted();
  const own = [name, seenName(name)].find((one) => teams.includes(one));
  if (own !== undefined) return own;
  const nearest = nearestName(name, teams);
  const notKept = await usersNotKept(warehouse, orgId);
  throw new UsageError(`there is no team "${name}"`, {
    hint: notKept ?? (nearest === undefined ? teamHint(teams) : `did you mean ${nearest}?`),
  });
}

async function usersNotKept(warehouse: Source, orgId: string): Promise<string | null> {
  return whyNotKept(await runReads(warehouse, contractOf(orgId)), ['users']);
}

function teamHint(teams: readonly string[]): string {
  if (teams.length === 0) return 'no person has a team; load them with daywalk people load';
  const more = teams.length > TEAMS_MAX ? `, and ${teams.length - TEAMS_MAX} more` : '';
  return `choose from ${teams.slice(0, TEAMS_MAX).join(', ')}${more}, or ${UNASSIGNED}`;
}

/**
 * Checks that an organization has a user.
 * @throws {UsageError} if no row is of this user, because the answer would be 0 for a misspelt ID.
 */
export async function checkUser(warehouse: Source, orgId: string, user: string): Promise<void> {
  const found = await warehouse.select(
    sql`SELECT user_id FROM user_daily WHERE org_id = ${orgId} AND user_id = ${user} LIMIT 1`,
  );
  // People for whom pseudonyms stand have no figures alone.
  if (found.length > 0 && !isPseudonym(user)) return;
  throw new UsageError(`no row is of the user "${user}"`, {
    hint:
      (await usersNotKept(warehouse, orgId)) ??
      'give a user ID; the table users has the email address of each',
  });
}
