import { sql } from '../../../schema/query.ts';
import { daysFrom, type UtcDay } from '../../core/day.ts';
import type { Warehouse } from '../port.ts';
import type { Steps } from '../queries.ts';
import { type Bucket, bucketsOf, groupsOf } from './buckets.ts';
import { extendDates, hasAllDates } from './dates.ts';
import { refreshBuckets, removeStrayBuckets } from './refresh-buckets.ts';
import { refreshUsers } from './refresh-users.ts';
import { readStanding, type Standing } from './standing.ts';

/** The name under which one process at a time writes rollups, see `Warehouse.oneAtATime`. */
export const ROLLUPS = 'rollups';

/**
 * About how many rows of `user_daily` one transaction reads. SQLite blocks the process during a statement, so a
 * transaction must stay short; a bucket with more rows has a transaction of its own.
 */
const ROWS_PER_TRANSACTION = 100_000;

/** How often months are computed again because other workers committed meanwhile. The next run does the rest. */
const ROUNDS_MAX = 3;

/** What to refresh. */
export interface RefreshOptions {
  readonly orgId: string;
  /** The present, up to two years after which `dates` goes. */
  readonly now: Date;
  /** Days whose rollups are computed again even if they are current, for rollups that somebody edited. @default none */
  readonly force?: { readonly firstDay: UtcDay; readonly lastDay: UtcDay } | undefined;
  /** Aborted when the process must stop: the refresh ends between two transactions, and the next one resumes. */
  readonly signal?: AbortSignal | undefined;
}

/** What a refresh has computed again. */
export interface Refreshed {
  readonly weeks: number;
  readonly months: number;
  /** `users` and `user_teams` were computed again. */
  readonly users: boolean;
}

/**
 * Computes those rollups of an organization again that differ from the ledger, in short transactions. May be repeated at
 * will, also after a kill at any instant. Waits while another process refreshes.
 * @throws {StorageError} when the database fails; what was computed before stays.
 */
export async function refreshRollups(warehouse: Warehouse, options: RefreshOptions): Promise<Refreshed> {
  if (options.force === undefined && (await isAllCurrent(warehouse, options))) return NOTHING;
  return warehouse.oneAtATime(ROLLUPS, () => refreshAlone(warehouse, options));
}

/**
 * As {@link refreshRollups}, for every organization: those in the ledger, and those that are in rollups only, because a
 * copy has removed them.
 */
export async function refreshAllRollups(
  warehouse: Warehouse,
  options: Omit<RefreshOptions, 'orgId'>,
): Promise<void> {
  const organizations = await warehouse.select(
    sql`SELECT org_id FROM export_units UNION SELECT org_id FROM rollup_marks ORDER BY org_id`,
  );
  for (const { org_id } of organizations) {
    if (options.signal?.aborted) return;
    await refreshRollups(warehouse, { ...options, orgId: String(org_id) });
  }
}

const NOTHING: Refreshed = { weeks: 0, months: 0, users: false };

/** Reads with the steps of a transaction. */
export async function runReads<Result>(
  warehouse: Pick<Warehouse, 'select'>,
  steps: Steps<Result>,
): Promise<Result> {
  let step = steps.next();
  while (step.done !== true) {
    if ('table' in step.value) throw new TypeError('steps that only read have yielded rows to write');
    step = steps.next(await warehouse.select(step.value));
  }
  return step.value;
}

async function isAllCurrent(warehouse: Warehouse, { orgId, now }: RefreshOptions): Promise<boolean> {
  const { stale, isPeopleStale } = await runReads(warehouse, readStanding(orgId));
  const isCurrent = Object.values(stale).every((days) => days.length === 0) && !isPeopleStale;
  return isCurrent && (await runReads(warehouse, hasAllDates(now)));
}

async function refreshAlone(warehouse: Warehouse, options: RefreshOptions): Promise<Refreshed> {
  const { orgId, now, signal } = options;
  await warehouse.transact('extend the calendar of', () => extendDates(now, options.force !== undefined));
  if (options.force !== undefined)
    await warehouse.transact('clear rollups of', () => removeStrayBuckets(orgId));
  const done = { weeks: 0, months: 0, users: false };
  for (let round = 1; round <= ROUNDS_MAX && !done.users; round += 1) {
    const standing = await runReads(warehouse, readStanding(orgId));
    const force = round === 1 ? options.force : undefined;
    for (const group of groupsToRefresh(standing, force)) {
      if (signal?.aborted) return done;
      await warehouse.transact('refresh rollups of', () => refreshBuckets(warehouse.dialect, orgId, group));
      done.weeks += group.filter(({ rollup }) => rollup === 'weekly').length;
      done.months += group.filter(({ rollup }) => rollup === 'monthly').length;
    }
    if (signal?.aborted) return done;
    done.users = await warehouse.transact('refresh users of', () => refreshUsers(warehouse.dialect, orgId));
  }
  return done;
}

/** The stale buckets and those of the forced days, in groups that fit one transaction. */
export function groupsToRefresh(
  { stale, stored }: Pick<Standing, 'stale' | 'stored'>,
  force: RefreshOptions['force'],
): Bucket[][] {
  const forced = force === undefined ? [] : daysFrom(force.firstDay, force.lastDay);
  return (['weekly', 'monthly'] as const).flatMap((rollup) =>
    groupsOf(bucketsOf(rollup, [...stale[rollup], ...forced]), stored, ROWS_PER_TRANSACTION),
  );
}
