import { createHash } from 'node:crypto';
import { type Dialect, listOf, type SQL, sql } from '../../../schema/query.ts';
import { UsageError } from '../../core/errors.ts';
import { DAILY_STREAMS, type Stream } from '../../core/stream.ts';
import {
  type BUDGET_STATES,
  checkBudgets,
  eventsFile,
  storedBudgets,
  storedPrices,
} from '../../csv-files/index.ts';
import { isExpected } from '../../expected/index.ts';
import { readOpenRecords, readOrganizationIds, readUnits } from '../../ledger/index.ts';
import type { QueryRow, Warehouse } from '../../port/index.ts';
import { ASIDE } from '../../records/index.ts';
import { selectPeople } from '../../rollups/index.ts';
import { type OrganizationStatus, readOrganization } from '../../status/index.ts';
import { isDayUnit } from '../../units/index.ts';

/** The label of an organization that no run has learned yet. */
export const UNKNOWN = 'unknown';

/** What the metrics of an organization are made from. */
export interface OrganizationFacts {
  /** Its name in the organizations file, or else its ID. */
  readonly organization: string;
  /** Null before the first run that learned it. */
  readonly orgId: string | null;
  readonly status: OrganizationStatus;
  readonly runs: RunFacts;
  /** Records of expected units in quarantine that nobody has accepted, by stream. */
  readonly quarantined: ReadonlyMap<Stream, number>;
  /** By stream. */
  readonly restatements: ReadonlyMap<string, number>;
  readonly budgets: BudgetStates;
}

/** An organization to report, whether it is stored or not. */
interface Reported {
  readonly organization: string;
  readonly orgId: string | null;
}

/** How to read the facts. */
interface FactsOptions {
  /** Those of the organizations file; null without one: then all organizations of the warehouse are reported. */
  readonly names: readonly string[] | null;
  readonly now: Date;
  readonly readBudgets: BudgetReader;
}

/** Reads the facts of every organization. Call in a snapshot. */
export async function readFacts(
  warehouse: Warehouse,
  { names, now, readBudgets }: FactsOptions,
): Promise<OrganizationFacts[]> {
  const reported = await reportedOrganizations(warehouse, names);
  const runs = await readRunFacts(warehouse, now);
  const restatements = await warehouse.select(
    sql`SELECT org_id, stream, COUNT(*) AS stored FROM restatements GROUP BY org_id, stream`,
  );
  const facts: OrganizationFacts[] = [];
  for (const { organization, orgId } of reported) {
    const status = await readOrganization(warehouse, { name: organization, orgId: orgId ?? '' }, now);
    facts.push({
      organization,
      orgId,
      status,
      runs: runsOf(orgId, runs, reported),
      quarantined: await quarantinedOf(warehouse, status),
      restatements: restatementsOf(orgId, restatements),
      budgets: orgId === null ? new Map() : await readBudgets(warehouse, orgId),
    });
  }
  return facts;
}

async function reportedOrganizations(
  warehouse: Warehouse,
  names: readonly string[] | null,
): Promise<Reported[]> {
  if (names !== null) {
    const rows = await warehouse.select(sql`SELECT name, org_id FROM organizations`);
    const orgIds = new Map(rows.map(({ name, org_id }) => [String(name), String(org_id)]));
    return names.map((name) => ({ organization: name, orgId: orgIds.get(name) ?? null }));
  }
  const stored = (await readOrganizationIds(warehouse)).map((orgId) => ({ organization: orgId, orgId }));
  return stored.length > 0 ? stored : [{ organization: UNKNOWN, orgId: null }];
}

/** Runs that learned no organization belong to the only one; among several, nobody knows whose they were. */
function runsOf(
  orgId: string | null,
  runs: ReadonlyMap<string | null, RunFacts>,
  { length }: readonly Reported[],
): RunFacts {
  const own = (orgId === null ? undefined : runs.get(orgId)) ?? NO_RUNS;
  return length === 1 ? joinRunFacts(own, runs.get(null) ?? NO_RUNS) : own;
}

async function quarantinedOf(warehouse: Warehouse, { orgId, contract }: OrganizationStatus) {
  const open = new Map<Stream, number>();
  for (const unit of await readOpenRecords(warehouse, orgId))
    if (isExpected(unit, contract)) open.set(unit.stream, (open.get(unit.stream) ?? 0) + unit.records);
  return open;
}

function restatementsOf(orgId: string | null, rows: readonly QueryRow[]): Map<string, number> {
  const own = rows.filter(({ org_id: owner }) => owner === orgId);
  return new Map(own.map(({ stream, stored }) => [String(stream), Number(stored)]));
}

/** The sums over all runs of an organization that have ended, and its last one. */
interface RunFacts {
  readonly rowsWritten: number;
  readonly requests: number;
  readonly retries: number;
  readonly last: EndedRun | null;
  /** Number of responses by HTTP status. */
  readonly responses: ReadonlyMap<string, number>;
}

/** A run that has ended. */
export interface EndedRun {
  readonly exitCode: number;
  /** ISO instants. */
  readonly startedAt: string;
  readonly endedAt: string;
}

/** The facts of an organization without runs. */
const NO_RUNS: RunFacts = { rowsWritten: 0, requests: 0, retries: 0, last: null, responses: new Map() };

const TOTALS = sql`SELECT org_id, SUM(rows_written) AS rows_written, SUM(requests) AS requests, SUM(retries) AS retries
FROM export_runs WHERE ended_at IS NOT NULL GROUP BY org_id`;

/** As the status has it, a run that began after now was recorded while a clock was ahead, and is not the last one. */
const lastUntil = (now: Date): SQL => sql`SELECT org_id, exit_code, started_at, ended_at FROM (
  SELECT org_id, exit_code, started_at, ended_at,
    ROW_NUMBER() OVER (PARTITION BY org_id ORDER BY ended_at DESC, started_at DESC, run_id DESC) AS place
  FROM export_runs WHERE ended_at IS NOT NULL AND started_at <= ${now.toISOString()}
    AND command NOT IN (${listOf([...ASIDE].map((name) => sql`${name}`))})) AS ended
WHERE place = 1`;

const RESPONSES: Readonly<Record<Dialect, SQL>> = {
  sqlite: sql`SELECT runs.org_id, entry.key AS name, SUM(entry.value) AS value
FROM export_runs AS runs, json_each(runs.responses) AS entry GROUP BY runs.org_id, entry.key`,
  postgres: sql`SELECT runs.org_id, entry.key AS name, SUM(entry.value::bigint) AS value
FROM export_runs AS runs CROSS JOIN LATERAL jsonb_each_text(runs.responses) AS entry(key, value)
GROUP BY runs.org_id, entry.key`,
};

/**
 * Reads the facts of all runs by organization. Runs that ended before they knew their organization are under null. Call in
 * a snapshot.
 */
async function readRunFacts(
  warehouse: Pick<Warehouse, 'select' | 'dialect'>,
  now: Date,
): Promise<ReadonlyMap<string | null, RunFacts>> {
  const { dialect } = warehouse;
  const last = byOrganization(await warehouse.select(lastUntil(now)));
  const responses = byOrganization(await warehouse.select(RESPONSES[dialect]));
  const totals = await warehouse.select(TOTALS);
  return new Map(
    totals.map((row) => {
      const orgId = organizationOf(row);
      const facts: RunFacts = {
        rowsWritten: Number(row['rows_written']),
        requests: Number(row['requests']),
        retries: Number(row['retries']),
        last: endedRun(last.get(orgId)?.[0]),
        responses: new Map(responses.get(orgId)?.map(({ name, value }) => [String(name), Number(value)])),
      };
      return [orgId, facts];
    }),
  );
}

/** The facts of two sets of runs together. */
function joinRunFacts(a: RunFacts, b: RunFacts): RunFacts {
  const responses = new Map(a.responses);
  for (const [status, count] of b.responses) responses.set(status, (responses.get(status) ?? 0) + count);
  const [rowsWritten, requests] = [a.rowsWritten + b.rowsWritten, a.requests + b.requests];
  const last = (a.last?.endedAt ?? '') < (b.last?.endedAt ?? '') ? b.last : a.last;
  return { rowsWritten, requests, retries: a.retries + b.retries, last, responses };
}

function byOrganization(rows: readonly QueryRow[]): Map<string | null, QueryRow[]> {
  return Map.groupBy(rows, organizationOf);
}

function organizationOf({ org_id: orgId }: QueryRow): string | null {
  return orgId === null || orgId === undefined ? null : String(orgId);
}

function endedRun(row: QueryRow | undefined): EndedRun | null {
  if (row === undefined) return null;
  const { exit_code: exitCode, started_at: startedAt, ended_at: endedAt } = row;
  return { exitCode: Number(exitCode), startedAt: String(startedAt), endedAt: String(endedAt) };
}

/** Teams with a budget by the state of the budget; empty if there is nothing to check. */
type BudgetStatus = (typeof BUDGET_STATES)[number];
type BudgetStates = ReadonlyMap<BudgetStatus, number>;

/** Reads the states of the budgets of an organization. Call in a snapshot. */
type BudgetReader = (warehouse: Warehouse, orgId: string) => Promise<BudgetStates>;

const NONE: BudgetStates = new Map();

/**
 * Creates a reader that computes the states again only when something that they depend on has changed: while a run commits
 * other days and streams, a check of a large organization would take most of the time of a scrape.
 */
export function createBudgetReader(): BudgetReader {
  const known = new Map<string, { readonly basis: string; readonly states: BudgetStates }>();
  return async (warehouse, orgId) => {
    const budgets = await warehouse.select(storedBudgets.select(orgId));
    if (budgets.length === 0) return NONE;
    const basis = await basisOf(warehouse, orgId, budgets);
    const earlier = known.get(orgId);
    if (earlier?.basis === basis) return earlier.states;
    const states = await readStates(warehouse, orgId);
    known.set(orgId, { basis, states });
    return states;
  };
}

/** The digest of everything that a check reads: budgets, prices, events, people, and the days of users by their content. */
async function basisOf(warehouse: Warehouse, orgId: string, budgets: unknown): Promise<string> {
  const prices = await warehouse.select(storedPrices.select(orgId));
  const events = await warehouse.select(eventsFile.store.select(orgId));
  const people = await warehouse.select(selectPeople(orgId));
  // The same list as that of the status, which the snapshot remembers.
  const units = await readUnits(warehouse, orgId, DAILY_STREAMS);
  const days = units.filter(isDayUnit).filter(({ stream }) => stream === 'users');
  const facts = ['day', 'state', 'rows', 'contentSha256', 'settledAt', 'confirmed'];
  return createHash('sha256')
    .update(JSON.stringify([budgets, prices, events, people]))
    .update(JSON.stringify(days, facts))
    .digest('hex');
}

/** Without a loaded day, or a budget for its month, there is nothing to check. */
async function readStates(warehouse: Warehouse, orgId: string): Promise<BudgetStates> {
  const counts = new Map<BudgetStatus, number>();
  try {
    const { teams } = await checkBudgets(warehouse, orgId);
    for (const { status } of teams) counts.set(status, (counts.get(status) ?? 0) + 1);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
  }
  return counts;
}
