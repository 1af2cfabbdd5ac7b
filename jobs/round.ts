import type { JobContext } from '../src/core/clock.ts';
import { adviceAbout, adviceOf, DaywalkError, messageOf, StorageError } from '../src/core/errors.ts';
import { EXIT, type ExitCode, isUndecided, needsPerson, worstExit } from '../src/core/exit-code.ts';
import { namesOf } from '../src/organizations/index.ts';
import type { RunEvent, RunObserver, RunReport } from '../src/pipeline/index.ts';
import type { NamedOrganization, Settings } from '../src/settings/index.ts';
import { chooseOrganizations, settingsFor } from './access.ts';
import {
  askedPlan,
  type ExportRequest,
  exportInto,
  isMistake,
  type LockedWarehouse,
  runExport,
  withLockedWarehouse,
} from './run.ts';

/** The result of exporting one organization. */
export interface OrganizationOutcome {
  /** Its name in the organizations file; null if there is no such file. */
  readonly name: string | null;
  /** Null if it is not known. */
  readonly orgId: string | null;
  readonly exitCode: ExitCode;
  /** Null if the run could not begin. */
  readonly report: RunReport | null;
  /** Why the run could not begin; null if it began. */
  readonly error: unknown;
}

/** The result of a round: one export of every organization, one after the other. */
export interface RoundReport {
  readonly command: string;
  /** ISO instants. */
  readonly startedAt: string;
  readonly endedAt: string;
  /** The highest-ranking exit code of all organizations. */
  readonly exitCode: ExitCode;
  readonly organizations: readonly OrganizationOutcome[];
  /** All names in the organizations file, as the round has read it; null if there is no such file. */
  readonly names: readonly string[] | null;
}

/**
 * Something that is informed of every round: pings, notifications, the metrics file. It must not throw, and it must return
 * within a few seconds, because the round waits for it; the command of the weekly brief has a minute.
 */
export interface RoundListener {
  /** Is called before the first organization is exported. */
  begin?(): Promise<void>;
  /** Receives each event of the export while it works. Must return at once. */
  observe?(event: RunEvent): void;
  /** Is called with the result of the round, also if it failed. */
  end?(report: RoundReport): Promise<void>;
}

/**
 * Exports every organization of the settings, one after the other, whatever happens to the others. Never throws: what went
 * wrong is in the report. An error of the round as a whole, such as a warehouse that cannot be opened, is the error of every
 * organization. May be repeated at will.
 */
export async function runRound(
  settings: Settings,
  request: ExportRequest,
  context: JobContext<RunEvent>,
): Promise<RoundReport> {
  const startedAt = context.clock.now().toISOString();
  const organizations = await exportAll(settings, request, context);
  return {
    command: request.command,
    startedAt,
    endedAt: context.clock.now().toISOString(),
    exitCode: worstExit(organizations.map(({ exitCode }) => exitCode)),
    organizations,
    names: namesOf(settings),
  };
}

/** The one error that kept every organization from being exported; null if one was exported or they failed for reasons of their own. */
export function commonFailure({ organizations }: RoundReport): { readonly error: unknown } | null {
  const [first, ...others] = organizations;
  if (first === undefined || first.report !== null) return null;
  return others.every(({ error }) => error === first.error) ? { error: first.error } : null;
}

const IDENTITY: ReadonlySet<string> = new Set(['identity', 'archive-not-named', 'create-never']);

/** Why a round was refused: the warehouse or the archive is not the one of before. Null if it was not. */
export function refusalOf(report: RoundReport): string | null {
  const error = commonFailure(report)?.error;
  return IDENTITY.has(adviceOf(error).reason ?? '') ? messageOf(error) : null;
}

/** True if a round succeeded or failed: neither a signal nor another run kept it from its work. */
export function isDecided({ organizations }: RoundReport): boolean {
  return organizations.some(({ exitCode }) => !isUndecided(exitCode));
}

/** What kept an organization from being exported, and only a person ends, such as a refused key. */
export interface Obstacle extends Pick<OrganizationOutcome, 'name' | 'orgId'> {
  readonly reason: string;
  /** When the round began, as an ISO instant. */
  readonly startedAt: string;
}

/** The obstacles that a round met. */
export function obstaclesOf(report: RoundReport): Obstacle[] {
  const failure = commonFailure(report);
  const stopped = report.organizations.filter(({ exitCode }) => needsPerson(exitCode));
  return stopped.map(({ name, orgId, exitCode }) => {
    const own = `${name === null ? '' : `${name}: `}the last run ended with exit code ${exitCode}`;
    const reason = failure === null ? own : messageOf(failure.error);
    return { name, orgId, reason, startedAt: report.startedAt };
  });
}

async function exportAll(
  settings: Settings,
  request: ExportRequest,
  context: JobContext<RunEvent>,
): Promise<OrganizationOutcome[]> {
  let chosen: readonly NamedOrganization[];
  try {
    chosen = chooseOrganizations(settings, request.organization);
  } catch (error) {
    return [notBegun(request.organization ?? null, error)];
  }
  if (settings.organizationsFile === null) return [await exportOnly(settings, request, context)];
  try {
    // The first day of the settings is that of organizations without their own.
    askedPlan({ ...settings, firstDay: null }, request, context);
    return await withLockedWarehouse(settings, request, context, (place) =>
      exportNamed(chosen, { place, settings, request, context }),
    );
  } catch (error) {
    return chosen.map(({ name }) => notBegun(name, error));
  }
}

/** Exports the only organization of settings without an organizations file. */
async function exportOnly(
  settings: Settings,
  request: ExportRequest,
  context: JobContext<RunEvent>,
): Promise<OrganizationOutcome> {
  try {
    return outcomeOf(null, await runExport(settings, request, context));
  } catch (error) {
    return { ...notBegun(null, error), orgId: settings.orgId };
  }
}

interface NamedRound {
  readonly place: LockedWarehouse;
  readonly settings: Settings;
  readonly request: ExportRequest;
  readonly context: JobContext<RunEvent>;
}

async function exportNamed(
  chosen: readonly NamedOrganization[],
  { place, settings, request, context }: NamedRound,
): Promise<OrganizationOutcome[]> {
  const names = namesOf(settings) ?? [];
  const outcomes: OrganizationOutcome[] = [];
  let unusable: unknown = null;
  for (const organization of chosen) {
    const { name } = organization;
    const observe = observerFor(name, context.observe);
    try {
      // A warehouse that cannot even record a run would fail for the others too, after the same wait.
      if (unusable !== null) throw unusable;
      context.signal.throwIfAborted();
      const own = settingsFor(settings, organization);
      const report = await exportInto(place, own, request, { ...context, observe }, { name, names });
      outcomes.push(outcomeOf(name, reportFor(name, report)));
    } catch (error) {
      if (error instanceof StorageError) unusable = error;
      const outcome = notBegun(name, error);
      observe(leftOut(name, outcome));
      outcomes.push(outcome);
    }
  }
  const reports = outcomes.flatMap(({ report }) => report ?? []);
  if (reports.every((report) => report.orgId === null && isMistake(report))) place.discardNew(reports.length);
  return outcomes;
}

function outcomeOf(name: string | null, report: RunReport): OrganizationOutcome {
  return { name, orgId: report.orgId, exitCode: report.exitCode, report, error: null };
}

function leftOut(organization: string, { error, exitCode }: OrganizationOutcome): RunEvent {
  const message = messageOf(error);
  return { type: 'organization-left-out', organization, exitCode, message, ...adviceOf(error) };
}

function notBegun(name: string | null, error: unknown): OrganizationOutcome {
  const exitCode = error instanceof DaywalkError ? error.exitCode : EXIT.defect;
  return { name, orgId: null, exitCode, report: null, error };
}

/** Passes on the events of one organization. Their advice then names it, so that a remedy can say whose key is meant. */
export function observerFor(organization: string, observe: RunObserver): RunObserver {
  return (event) => observe(adviseOn(organization, event));
}

/** A report whose advice names the organization. */
function reportFor(organization: string, report: RunReport): RunReport {
  return { ...report, problems: report.problems.map((problem) => adviceAbout(organization, problem)) };
}

function adviseOn(organization: string, event: RunEvent): RunEvent {
  if (event.type === 'run-ended') return { ...event, report: reportFor(organization, event.report) };
  if (event.type === 'warning' || event.type === 'unit-failed') return adviceAbout(organization, event);
  return event;
}
