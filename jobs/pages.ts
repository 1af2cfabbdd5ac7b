import { access, constants } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { aborted, type JobContext } from '../src/core/clock.ts';
import type { UtcDay } from '../src/core/day.ts';
import type { Advice } from '../src/core/errors.ts';
import { messageOf, OldWarehouseError, UsageError } from '../src/core/errors.ts';
import { packageVersion } from '../src/core/files.ts';
import {
  type Audience,
  type BriefRequest,
  reportPeriod,
  startDashboard,
  type WrittenBrief,
  type WrittenReport,
  type WrittenReports,
  writeBrief,
  writeReport,
  writeTeamReports,
} from '../src/look/index.ts';
import { findTeam } from '../src/metrics/index.ts';
import { chooseOrganization, listOrganizations } from '../src/organizations/index.ts';
import { isPostgres, type Warehouse } from '../src/port/index.ts';
import { maskUrlPassword, type Settings } from '../src/settings/index.ts';
import { keepOpen, readWarehouse } from '../src/warehouse/index.ts';

/** What a person asks for besides the settings. */
interface DashboardRequest {
  /** The port in place of the one in the settings. */
  readonly port?: number | undefined;
}

/** What an entry point passes to the dashboard. */
interface DashboardContext extends Pick<JobContext, 'clock' | 'signal'> {
  /** The remedy for a failure in the words of the entry point. */
  readonly hintOf: (advice: Advice) => string | undefined;
  /** Receives failures of single pages. Must not throw. */
  readonly report: (error: unknown, path: string) => void;
}

/**
 * Serves the warehouse to browsers until the process is asked to stop. Opens it for reading only.
 * @throws {UsageError} when there is no such warehouse, a newer version wrote it, the address cannot be used, or it can be
 * reached from other machines and there is no token.
 */
export async function serveDashboard(
  { warehouse: location, queryTimeout, dashboardListen, allowedHosts, dashboardToken: token }: Settings,
  { port }: DashboardRequest,
  { clock, signal, hintOf, report }: DashboardContext,
  onListening: (url: string) => void,
): Promise<void> {
  const listen = { ...dashboardListen, port: port ?? dashboardListen.port };
  const warehouse = keepOpen(location, { clock, signal, statementMsMax: queryTimeout });
  try {
    // What is wrong with the warehouse is reported before anything listens.
    await warehouse
      .read(async () => undefined)
      .catch((error: unknown) => {
        // The pages say so, until it is upgraded.
        if (!(error instanceof OldWarehouseError)) throw error;
        report(error, '/');
      });
    const footer = [
      `Daywalk ${packageVersion()}`,
      isPostgres(location) ? maskUrlPassword(location) : basename(location),
    ];
    const server = await startDashboard({
      warehouse,
      clock,
      keepsReady: true,
      listen,
      allowedHosts,
      token,
      footer,
      hintOf,
      report,
    });
    try {
      onListening(server.url);
      await aborted(signal);
    } finally {
      await server.close();
    }
  } finally {
    await warehouse.close();
  }
}

/** Where the reports go: a file, for the organization or one team; or a folder with a file for each team. */
export type ReportTarget =
  | { readonly kind: 'file'; readonly path: string; readonly team: string | undefined }
  | { readonly kind: 'folder'; readonly path: string };

/** Which reports to write. */
export interface ReportJob {
  readonly target: ReportTarget;
  readonly from: UtcDay | undefined;
  readonly until: UtcDay | undefined;
  readonly audience: Audience;
  /** The fewest people about whom a number is shown; not fewer than the setting. @default the setting */
  readonly minGroup: number | undefined;
  /** Default: the only organization of the warehouse. */
  readonly organization: string | undefined;
}

/** What was written. */
export interface ReportResult extends Partial<Omit<WrittenReports, 'reports'>> {
  readonly org_id: string;
  readonly from: UtcDay;
  readonly until: UtcDay;
  readonly audience: Audience;
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
  { warehouse: location, minGroup: least }: Pick<Settings, 'warehouse' | 'minGroup'>,
  { target, from, until, audience, minGroup = least, organization }: ReportJob,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<ReportResult> {
  expectNoLower(minGroup, least);
  const path = resolve(target.path);
  // Before the work, which takes seconds.
  if (target.kind === 'file') await expectFolder(dirname(path));
  return readWarehouse(location, { clock, signal }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    const now = clock.now();
    const period = await reportPeriod(warehouse, orgId, { asked: { from, until }, audience, now });
    const request = { filters: { orgId, ...period }, audience, minGroup, now };
    const about = {
      org_id: orgId,
      ...period,
      audience,
      min_group: audience === 'managers' ? null : minGroup,
    };
    if (target.kind === 'folder')
      return { ...about, ...(await writeTeamReports(warehouse, request, path, signal)) };
    const team = await teamOf(warehouse, orgId, { name: target.team, audience });
    const filters = { ...request.filters, team };
    return { ...about, reports: [await writeReport(warehouse, { ...request, filters }, path)] };
  });
}

/** Which brief to write, and where. */
export interface BriefJob extends Pick<BriefRequest, 'span' | 'audience' | 'dashboard'> {
  readonly folder: string;
  /** Default: the only organization of the warehouse. */
  readonly organization: string | undefined;
}

/** What was written. */
export interface BriefResult extends WrittenBrief, Pick<BriefRequest, 'audience'> {
  readonly org_id: string;
}

/**
 * Writes the brief of a week or month as the parts of a mail, see {@link writeBrief}. Only reads the warehouse, and may run during a run.
 * @throws {UsageError} also if there is no such warehouse or organization, and for a span without data.
 */
export function brief(
  { warehouse: location, minGroup }: Pick<Settings, 'warehouse' | 'minGroup'>,
  { folder, organization, ...asked }: BriefJob,
  { clock, signal }: Pick<JobContext, 'clock' | 'signal'>,
): Promise<BriefResult> {
  return readWarehouse(location, { clock, signal }, async (warehouse) => {
    const orgId = await chooseOrganization(warehouse, organization);
    const namesOrganization = organization !== undefined;
    const stored = await listOrganizations(warehouse, null);
    const own = stored.length < 2 ? null : (stored.find((each) => each.orgId === orgId)?.name ?? orgId);
    const request = { orgId, ...asked, minGroup, namesOrganization, name: own };
    const written = await writeBrief(warehouse, request, folder);
    return { org_id: orgId, audience: asked.audience, ...written };
  });
}

/** For a team or the public, a team is one that is published; its people may belong to another one by now. */
async function teamOf(
  warehouse: Warehouse,
  orgId: string,
  { name, audience }: { readonly name: string | undefined; readonly audience: Audience },
): Promise<string | null | undefined> {
  return name === undefined || audience !== 'managers' ? name : findTeam(warehouse, orgId, name);
}

function expectNoLower(minGroup: number, least: number): void {
  if (minGroup >= least) return;
  throw new UsageError(`--min-group ${minGroup} is less than DAYWALK_MIN_GROUP, which is ${least}`, {
    hint: 'a report may only ask for larger groups than the weeks were published with',
  });
}

async function expectFolder(folder: string): Promise<void> {
  try {
    // The slash refuses a file.
    await access(`${folder}/`, constants.W_OK);
  } catch (cause) {
    throw new UsageError(`the report cannot be written into ${folder}: ${messageOf(cause)}`, {
      cause,
      hint: 'name a file in a folder that exists and that you may write',
    });
  }
}
