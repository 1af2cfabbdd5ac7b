import type { OrganizationOutcome, RoundReport } from '../../../jobs/round.ts';
import { sql } from '../../../schema/query.ts';
import { dayOf, daysBetween } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT, isUndecided } from '../../core/exit-code.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { checkBudgets } from '../../csv-files/index.ts';
import { type Expectation, isExpected, MISSING_AFTER_DAYS, readExpectation } from '../../expected/index.ts';
import { awaitsLeavers, parseDoubt } from '../../judge/doubt.ts';
import { readOrganizationIds, readUnits } from '../../ledger/index.ts';
import { readNames } from '../../organizations/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { publicName } from '../../privacy/index.ts';
import { ASIDE } from '../../records/index.ts';
import { dateOf, isDayUnit, type LedgerDay, type LedgerUnit } from '../../units/index.ts';
import {
  type Condition,
  type Examination,
  type IncidentState,
  nameOfOutcome,
  type Scope,
} from './incidents.ts';

/** The change of a smaller sum is no news, however large its share is. */
const SUM_MIN = 20;

/** What to examine an organization against. */
interface ExaminationRule {
  readonly now: Date;
  /** When the round began, as an ISO instant. */
  readonly startedAt: string;
  readonly restatementShare: number;
}

/** Finds missing days, doubted losses, restatements and exceeded budgets of an organization. Writes nothing. */
async function examineOrganization(
  warehouse: Warehouse,
  orgId: string,
  before: IncidentState,
  rule: ExaminationRule,
): Promise<Examination> {
  const units = await readUnits(warehouse, orgId);
  const { restatedUntil } = before;
  const until = rule.now.toISOString();
  // A clock that was ahead has examined what is not there yet, or this one is behind.
  const isAhead = restatedUntil !== null && restatedUntil > until;
  // Restatements may carry the instant at which the round began.
  const justBefore = new Date(Date.parse(rule.startedAt) - 1).toISOString();
  const since = restatedUntil === null || isAhead ? justBefore : restatedUntil;
  const restated = await restatementsOf(warehouse, { orgId, since, until, share: rule.restatementShare });
  const budgets = await exceededBudgets(warehouse, orgId);
  const expectation = await readExpectation(warehouse, orgId, { units, now: rule.now });
  const expected = units.filter((unit) => isExpected(unit, expectation.contract));
  return {
    conditions: [
      ...doubts(expected),
      ...missing(units, expectation, rule.now),
      ...restated.conditions,
      ...budgets,
    ],
    hasExamined: ({ kind }) => kind !== 'run-failed',
    // If this clock is behind, what was examined stays examined.
    restatedUntil: restated.last ?? restatedUntil ?? since,
  };
}

/**
 * The missing days. Those that nobody has pulled only count once the organization has been exported for three days, so that
 * a first export that takes several nights raises nothing.
 */
function missing(
  units: readonly LedgerUnit[],
  { missing: days }: Pick<Expectation, 'missing'>,
  now: Date,
): Condition[] {
  const isEstablished = isKnownFor(units.filter(isDayUnit), MISSING_AFTER_DAYS, now);
  return days
    .filter(({ state }) => state === 'failed' || isEstablished)
    .map(({ stream, day }) => ({ kind: 'day-missing', key: `${stream} ${day}`, facts: { stream, day } }));
}

function isKnownFor(units: readonly LedgerDay[], days: number, now: Date): boolean {
  return units.some(
    ({ firstLoadedAt }) =>
      firstLoadedAt !== null && daysBetween(dayOf(new Date(firstLoadedAt)), dayOf(now)) >= days,
  );
}

function doubts(units: readonly LedgerUnit[]): Condition[] {
  return units.flatMap((unit): Condition[] => {
    if (unit.state !== 'doubted' || awaitsLeavers(unit)) return [];
    const { stream } = unit;
    const day = dateOf(unit);
    const doubt = parseDoubt(unit.doubt, unit.doubtedAt);
    const facts = {
      stream,
      ...(day !== '' && { day }),
      missing_rows: doubt?.rows ?? 0,
      rows: doubt?.of ?? 0,
    };
    return [{ kind: 'loss-doubted', key: `${stream} ${day}`.trim(), facts }];
  });
}

interface Restated {
  readonly conditions: readonly Condition[];
  /** The instant of the latest one; null if there is none. */
  readonly last: string | null;
}

async function restatementsOf(
  warehouse: Pick<Warehouse, 'select'>,
  { orgId, share, ...span }: Record<'orgId' | 'since' | 'until', string> & { readonly share: number },
): Promise<Restated> {
  const rows = await warehouse.select(sql`
SELECT stream, CAST(date AS TEXT) AS day, detected_at, CAST("before" AS TEXT) AS old, CAST("after" AS TEXT) AS new
FROM restatements WHERE org_id = ${orgId} AND detected_at > ${span.since} AND detected_at <= ${span.until} ORDER BY detected_at`);
  const conditions = rows.flatMap(({ stream, day, old: before, new: after }): Condition[] => {
    const change = largestChange(sumsIn(before), sumsIn(after));
    if (change === null || change.share <= share || typeof stream !== 'string') return [];
    const facts = {
      stream,
      day: String(day),
      column: change.column,
      share: Math.round(change.share * 1_000) / 1_000,
    };
    return [{ kind: 'restatement', key: `${stream} ${String(day)}`.trim(), facts }];
  });
  const last = rows.at(-1)?.['detected_at'];
  return { conditions, last: typeof last === 'string' ? last : null };
}

/** The sum that changed most, as a share of what was stored; null if no sum is large enough to say. */
function largestChange(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): { readonly column: string; readonly share: number } | null {
  let largest: { column: string; share: number } | null = null;
  for (const [column, old] of before) {
    if (Math.abs(old) < SUM_MIN) continue;
    const share = Math.abs((after.get(column) ?? 0) - old) / Math.abs(old);
    if (largest === null || share > largest.share) largest = { column, share };
  }
  return largest;
}

function sumsIn(text: unknown): Map<string, number> {
  const value = typeof text === 'string' ? parseJson(text) : undefined;
  const sums = isObject(value) ? Object.entries(value) : [];
  return new Map(sums.flatMap(([name, sum]) => (typeof sum === 'number' ? [[name, sum]] : [])));
}

/** The teams that are above their budget of the newest loaded month. A budget that cannot be checked is none. */
async function exceededBudgets(warehouse: Warehouse, orgId: string): Promise<Condition[]> {
  try {
    const { month, teams } = await warehouse.inSnapshot(() => checkBudgets(warehouse, orgId));
    return teams
      .filter(({ status }) => status === 'over budget')
      .map(
        ({ team }): Condition => ({
          kind: 'budget-exceeded',
          key: `${month} ${team}`,
          facts: { month, team },
        }),
      );
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}

/** The scope of failed runs: the warehouse itself, because a run that fails may not know its organization. */
const WAREHOUSE = '';

/**
 * The runs of a round that failed. A run is recognized in later rounds by the name of its organization, so that two jobs on
 * one warehouse do not end each other's incidents. Each exit code is an incident of its own.
 * Those of a name that the file has no more are over, and those of an ID with another organization's key (exit code 5) of which
 * nothing is stored: it was mistyped. A first run of an ID that fails otherwise has later ones.
 * @param stored the organizations in the warehouse. Null if nobody knows
 */
export function failureScope(
  { organizations, names, command }: RoundReport,
  orgId: string | null,
  stored: readonly string[] | null,
): Scope {
  const jobOf = ({ name }: OrganizationOutcome) => name ?? orgId ?? '';
  const decided = organizations.filter(({ exitCode }) => !isUndecided(exitCode));
  // A job without an organization has the warehouse for itself.
  const jobs = new Set(['', ...decided.map(jobOf)]);
  const conditions = decided
    .filter(({ exitCode }) => exitCode !== EXIT.ok)
    .map((outcome): Condition => {
      const [job, exit_code, by_id] = [jobOf(outcome), outcome.exitCode, Number(outcome.name === null)];
      return { kind: 'run-failed', key: JSON.stringify([job, exit_code]), facts: { job, exit_code, by_id } };
    });
  // As for health, what a person starts beside the export says nothing about the next run.
  const hasExamined = ({ facts: { job = '', exit_code: code, by_id: isId } }: Condition) =>
    !ASIDE.has(command) &&
    (jobs.has(String(job)) ||
      ((isId !== 1 || code === EXIT.quarantine) &&
        (isId === 1 ? stored : names)?.includes(String(job)) === false));
  return { scope: WAREHOUSE, examine: async () => ({ conditions, hasExamined }) };
}

interface OrganizationScopes {
  readonly rule: ExaminationRule;
  /** Receives an error because of which an organization is not examined in this round. */
  readonly onFailure: (error: unknown) => void;
}

/** A round, and what the warehouse knows of its organizations. */
export interface KnownRound extends RoundReport {
  /** The organizations that the file has no more: no later run ends their incidents. @default none */
  readonly left?: readonly { readonly name: string; readonly orgId: string }[];
}

/**
 * The round with the organizations that no response has named, because the key was refused or the service is down: the
 * warehouse knows which organization a name stands for.
 */
export async function identified(
  round: RoundReport,
  warehouse: Pick<Warehouse, 'select'>,
): Promise<KnownRound> {
  const recorded = await readNames(warehouse);
  const { names } = round;
  // A name that no run has recorded yet may stand for an organization that was renamed.
  const isClear = names?.every((name) => recorded.some((known) => known.name === name)) ?? false;
  const listed = recorded.filter(({ name }) => !isClear || names?.includes(name));
  const idOf = ({ name, orgId }: OrganizationOutcome) =>
    orgId ?? recorded.find((known) => known.name === name)?.orgId ?? null;
  const organizations = round.organizations.map((outcome) => ({ ...outcome, orgId: idOf(outcome) }));
  const present = new Set([...listed, ...organizations].map(({ orgId }) => orgId));
  const runs = await warehouse.select(
    sql`SELECT org_id, MAX(started_at) AS last FROM export_runs WHERE started_at < ${round.startedAt} GROUP BY org_id`,
  );
  const last = new Map(runs.map((run) => [run['org_id'], String(run['last'])]));
  const lastOf = (orgId: string | null) => last.get(orgId) ?? '';
  const before = [...present].map(lastOf).toSorted().at(-1) ?? '';
  // One with a run since the round before has a job of its own now.
  const left = recorded.filter(({ orgId }) => !present.has(orgId) && lastOf(orgId) <= before);
  return { ...round, organizations, left };
}

/** The organizations of a round whose days can be examined, and those that have left. */
export async function organizationScopes(
  warehouse: Warehouse,
  { organizations, left = [] }: KnownRound,
  { rule, onFailure }: OrganizationScopes,
): Promise<Scope[]> {
  const stored = await readOrganizationIds(warehouse);
  const ids = organizations
    .filter(({ exitCode }) => !isUndecided(exitCode) && exitCode !== EXIT.storage)
    .map(({ name, orgId }) => orgId ?? (name === null && stored.length === 1 ? stored[0] : undefined));
  const ending = [...new Set(left.map(({ orgId }) => orgId))].map(
    (scope): Scope => ({ scope, examine: async () => ({ conditions: [], hasExamined: () => true }) }),
  );
  const examined = [...new Set(ids)].flatMap((orgId): Scope[] => {
    if (orgId === undefined || !stored.includes(orgId)) return [];
    const examine: Scope['examine'] = async (before) => {
      try {
        return await examineOrganization(warehouse, orgId, before, rule);
      } catch (error) {
        onFailure(error);
        return null;
      }
    };
    return [{ scope: orgId, examine }];
  });
  return [...examined, ...ending];
}

/** The name of the organization of an incident, for people. */
export function nameOfScope(
  scope: string,
  { facts }: Condition,
  { organizations, left = [] }: KnownRound,
): string {
  if (scope === WAREHOUSE) {
    const job = String(facts['job'] ?? '');
    const own = organizations.find(({ name }) => (name ?? '') === job);
    if (own !== undefined) return nameOfOutcome(own);
    return job === '' ? 'the organization' : publicName(job);
  }
  const known = [...organizations, ...left].find(({ orgId }) => orgId === scope);
  return nameOfOutcome(known ?? { name: null, orgId: scope });
}
