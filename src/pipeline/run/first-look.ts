import { ReportLimit } from '../../api/index.ts';
import { shiftDay, type UtcDay, yesterdayOf } from '../../core/day.ts';
import { isObject } from '../../core/json.ts';
import { BadRequestError, CredentialError, parseHttpDate } from '../../http/index.ts';
import { readOrganizationIds } from '../../ledger/index.ts';
import { expectName, type NameInFile, readIdentities } from '../../organizations/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { type PullCall, pullFirstPage, pullReadinessPage, type Source } from '../pull.ts';
import { expectAnswerTo } from '../validate.ts';
import { explainDenial, explainFirstContact } from './first-contact.ts';
import { bindingRefusal, refusalError } from './foreign.ts';
import { isSkewed } from './start.ts';

/** What one day of activity says about a service and its key. */
interface FirstLook {
  readonly orgId: string;
  readonly day: UtcDay;
  /** The people who were active on that day; null if the service does not say. */
  readonly activeUsers: number | null;
  /** The service's clock, from the Date header; undefined without one. */
  readonly serverDate: Date | undefined;
}

interface LookRequest {
  readonly source: Source;
  /** Yesterday by this machine's clock. */
  readonly day: UtcDay;
  /** The warehouse holds no organization yet, so a failure may be about the URL. */
  readonly isFirstContact: boolean;
  /** The organization that the settings name; null for none. */
  readonly orgId: string | null;
  readonly signal: AbortSignal;
}

/**
 * Requests the activity of one day, as a run begins. If the service does not have the day, one that is over by its clock, or
 * else the day before, is requested.
 * @throws what a run would throw.
 */
export async function lookAtService({
  source,
  day,
  isFirstContact,
  orgId,
  signal,
}: LookRequest): Promise<FirstLook> {
  const call: PullCall = { signal, meter: { requests: 0, retries: 0 } };
  const pull = async (asked: UtcDay) => ({
    day: asked,
    page: await pullFirstPage(source, { stream: 'activity', days: [asked] }, call),
  });
  try {
    const { page, ...asked } = await pull(day).catch((error: unknown) => {
      if (!(error instanceof BadRequestError)) throw error;
      const over = error.serverDate === undefined ? day : yesterdayOf(error.serverDate);
      return pull(over < day ? over : shiftDay(day, -1));
    });
    if (orgId !== null) expectAnswerTo(page, orgId, { stream: 'activity', days: [asked.day] });
    const [row] = page.data;
    const users = isObject(row) ? row['daily_active_users'] : null;
    return {
      ...asked,
      orgId: page.meta.org_id,
      activeUsers: typeof users === 'number' ? users : null,
      serverDate: parseHttpDate(page.date ?? ''),
    };
  } catch (error) {
    if (error instanceof CredentialError && orgId === null) explainDenial(error);
    throw isFirstContact ? explainFirstContact(error, source.hosts.baseUrl) : error;
  }
}

/**
 * Requests one readiness report.
 * @throws what a run would record as the failure of readiness.
 */
export async function lookAtReadiness(source: Source, signal: AbortSignal): Promise<void> {
  const call: PullCall = { signal, meter: { requests: 0, retries: 0 } };
  await pullReadinessPage(source, undefined, call, new ReportLimit(1));
}

/**
 * Makes sure that a key may answer for the organization that it answers for, as far as one answer shows. Records nothing.
 * @throws {RunError} with exit code 5, as a run would.
 */
export async function expectOrganization(
  warehouse: Pick<Warehouse, 'read' | 'select'>,
  orgId: string,
  access: {
    readonly apiKey: string;
    readonly orgId: string | null;
    readonly named?: NameInFile | undefined;
  },
): Promise<void> {
  if (access.named !== undefined) await expectName(warehouse, access.named, orgId);
  const known = await readOrganizationIds(warehouse);
  const organizationsBefore = known.includes(orgId) ? [] : known;
  const identities = await readIdentities(warehouse);
  const refusal = bindingRefusal(access, { orgId, organizationsBefore, identities });
  if (refusal !== null) throw refusalError(refusal);
}

/** How far this clock is ahead of the service's, in milliseconds; 0 if a run would not mention it. */
export function skewOf(now: Date, serverDate: Date): number {
  const ms = now.getTime() - serverDate.getTime();
  return isSkewed(ms) ? ms : 0;
}
