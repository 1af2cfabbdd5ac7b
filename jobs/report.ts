import { resolve } from 'node:path';
import { type UtcDay, yesterdayOf } from '../src/core/day.ts';
import type { JobContext } from '../src/core/job-context.ts';
import type { Viewer } from '../src/look/audience/audience.ts';
import { reportPeriod } from '../src/look/report/period.ts';
import {
  type WrittenReport,
  type WrittenReports,
  writeReport,
  writeTeamReports,
} from '../src/look/report/write-reports.ts';
import { findTeam } from '../src/metrics/question.ts';
import type { Settings } from '../src/settings/settings.ts';
import { chooseOrganization } from '../src/warehouse/choose-organization.ts';
import { withWarehouse } from '../src/warehouse/with-warehouse.ts';

/** Where the reports go: a file, for the organization or one team; or a folder with a file for each team. */
export type ReportTarget =
  | { readonly kind: 'file'; readonly path: string; readonly team: string | undefined }
  | { readonly kind: 'folder'; readonly path: string };

/** Which reports to write. */
export interface ReportJob {
  readonly target: ReportTarget;
  readonly from: UtcDay | undefined;
  readonly until: UtcDay | undefined;
  readonly audience: Viewer['audience'];
  readonly minGroup: number;
  /** Default: the only organization of the warehouse. */
  readonly organization: string | undefined;
}

/** What was written. */
export interface ReportResult extends Partial<Omit<WrittenReports, 'reports'>> {
  readonly org_id: string;
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly audience: Viewer['audience'];
  /** Null for managers, who see groups of any size. */
  readonly min_group: number | null;
  readonly reports: readonly WrittenReport[];
}

/**
 * Writes reports as HTML files, see {@link writeReport}. Only reads the warehouse, and may run during a run. The same
 * warehouse and request give the same bytes.
 * @throws {UsageError} also if there is no such warehouse, organization or team, and for a period without data.
 */
export async function report(
  { warehouse: location }: Pick<Settings, 'warehouse'>,
  { target, from, until, audience, minGroup, organization }: ReportJob,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<ReportResult> {
  return withWarehouse(location, { clock, create: false, readOnly: true, signal }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    const period = await reportPeriod(warehouse, orgId, { from, until }, yesterdayOf(clock.now()));
    const request = { filters: { orgId, ...period }, audience, minGroup };
    const about = {
      org_id: orgId,
      ...period,
      audience,
      min_group: audience === 'managers' ? null : minGroup,
    };
    const path = resolve(target.path);
    if (target.kind === 'folder')
      return { ...about, ...(await writeTeamReports(warehouse, request, path, signal)) };
    const team = target.team === undefined ? undefined : await findTeam(warehouse, orgId, target.team);
    const filters = { ...request.filters, team };
    return { ...about, reports: [await writeReport(warehouse, { ...request, filters }, path)] };
  });
}
