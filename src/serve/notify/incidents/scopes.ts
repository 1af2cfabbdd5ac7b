import type { OrganizationOutcome, RoundReport } from '../../../../jobs/run-round.ts';
import { EXIT } from '../../../core/exit-code.ts';
import { publicName } from '../../../privacy/public-text.ts';
import { readNames } from '../../../warehouse/organization-names.ts';
import type { Warehouse } from '../../../warehouse/port.ts';
import { isUndecided } from '../ping-url.ts';
import { nameOfOutcome } from '../round-summary.ts';
import { type ExaminationRule, examineOrganization } from './examine-organization.ts';
import type { Condition } from './incident.ts';
import type { Scope } from './report-incidents.ts';

/** The scope of failed runs: the warehouse itself, because a run that fails may not know its organization. */
const WAREHOUSE = '';

/**
 * The runs of a round that failed. A run is recognized in later rounds by the name of its organization, so that two jobs on
 * one warehouse do not end each other's incidents. Each exit code is an incident of its own.
 */
export function failureScope({ organizations }: RoundReport, orgId: string | undefined): Scope {
  const jobOf = ({ name }: OrganizationOutcome) => name ?? orgId ?? '';
  const decided = organizations.filter(({ exitCode }) => !isUndecided(exitCode));
  const jobs = new Set<string | number>(decided.map(jobOf));
  const conditions = decided
    .filter(({ exitCode }) => exitCode !== EXIT.ok)
    .map((outcome): Condition => {
      const [job, exitCode] = [jobOf(outcome), outcome.exitCode];
      return {
        kind: 'run-failed',
        key: JSON.stringify([job, exitCode]),
        facts: { job, exit_code: exitCode },
      };
    });
  const hasExamined = ({ facts }: Condition) => jobs.has(facts['job'] ?? '');
  return { scope: WAREHOUSE, examine: async () => ({ conditions, hasExamined }) };
}

export interface OrganizationScopes {
  readonly rule: ExaminationRule;
  /** Receives an error because of which an organization is not examined in this round. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The round with the organizations that no response has named, because the key was refused or the service is down: the
 * warehouse knows which organization a name stands for.
 */
export async function identified(
  round: RoundReport,
  warehouse: Pick<Warehouse, 'select'>,
): Promise<RoundReport> {
  const recorded = await readNames(warehouse);
  const idOf = ({ name, orgId }: OrganizationOutcome) =>
    orgId ?? recorded.find((known) => known.name === name)?.orgId ?? null;
  return {
    ...round,
    organizations: round.organizations.map((outcome) => ({ ...outcome, orgId: idOf(outcome) })),
  };
}

/** The organizations of a round whose days can be examined. */
export async function organizationScopes(
  warehouse: Warehouse,
  { organizations }: RoundReport,
  { rule, onFailure }: OrganizationScopes,
): Promise<Scope[]> {
  const stored = await warehouse.organizations();
  const ids = organizations
    .filter(({ exitCode }) => !isUndecided(exitCode) && exitCode !== EXIT.storage)
    .map(({ name, orgId }) => orgId ?? (name === null && stored.length === 1 ? stored[0] : undefined));
  return [...new Set(ids)].flatMap((orgId): Scope[] => {
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
}

/** The name of the organization of an incident, for people. */
export function nameOfScope(scope: string, { facts }: Condition, { organizations }: RoundReport): string {
  if (scope === WAREHOUSE) {
    const job = String(facts['job'] ?? '');
    const own = organizations.find(({ name }) => (name ?? '') === job);
    if (own !== undefined) return nameOfOutcome(own);
    return job === '' ? 'the organization' : publicName(job);
  }
  return nameOfOutcome(organizations.find(({ orgId }) => orgId === scope) ?? { name: null, orgId: scope });
}
