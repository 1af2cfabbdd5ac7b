import { sql } from '../../../schema/query.ts';
import { dayOf, type UtcDay, yesterdayOf } from '../../core/day.ts';
import { DAILY_STREAMS, type Stream } from '../../core/stream.ts';
import { missingDays } from '../../status/missing-days.ts';
import { type OrganizationStatus, readOrganization } from '../../status/organization.ts';
import type { QuarantineCount, QueryRow, Warehouse } from '../../warehouse/port.ts';
import type { BudgetReader, BudgetStates } from './budget-states.ts';
import { joinRunFacts, NO_RUNS, type RunFacts, readRunFacts } from './run-facts.ts';

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
  /** Records in quarantine that nobody has accepted, by stream. */
  readonly quarantined: ReadonlyMap<Stream, number>;
  /** By stream. */
  readonly restatements: ReadonlyMap<string, number>;
  readonly budgets: BudgetStates;
  /** Each day once, whatever the number of its streams. */
  readonly missingDays: readonly UtcDay[];
}

/** An organization to report, whether it is stored or not. */
interface Reported {
  readonly organization: string;
  readonly orgId: string | null;
}

/** How to read the facts. */
export interface FactsOptions {
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
  const runs = await readRunFacts(warehouse);
  const quarantine = await warehouse.quarantineCounts();
  const restatements = await warehouse.select(
    sql`SELECT org_id, stream, COUNT(*) AS stored FROM restatements GROUP BY org_id, stream`,
  );
  const facts: OrganizationFacts[] = [];
  for (const { organization, orgId } of reported) {
    // The snapshot remembers the list for the status and the budgets.
    const units = await warehouse.units(orgId ?? '', DAILY_STREAMS);
    facts.push({
      organization,
      orgId,
      status: await readOrganization(warehouse, { name: organization, orgId: orgId ?? '' }, yesterdayOf(now)),
      runs: runsOf(orgId, runs, reported),
      quarantined: quarantinedOf(orgId, quarantine),
      restatements: restatementsOf(orgId, restatements),
      budgets: orgId === null ? new Map() : await readBudgets(warehouse, orgId),
      missingDays: [...new Set(missingDays(units, dayOf(now)).map(({ day }) => day))],
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
  const stored = (await warehouse.organizations()).map((orgId) => ({ organization: orgId, orgId }));
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

function quarantinedOf(orgId: string | null, counts: readonly QuarantineCount[]): Map<Stream, number> {
  const open = new Map<Stream, number>();
  for (const { orgId: owner, stream, records, accepted } of counts) {
    if (owner === orgId) open.set(stream, (open.get(stream) ?? 0) + records - accepted);
  }
  return open;
}

function restatementsOf(orgId: string | null, rows: readonly QueryRow[]): Map<string, number> {
  const own = rows.filter(({ org_id: owner }) => owner === orgId);
  return new Map(own.map(({ stream, stored }) => [String(stream), Number(stored)]));
}
