import { readerOf, type TableRows } from '../../../schema/row.ts';
import { tables as schema } from '../../../schema/tables.ts';
import { type ReadinessPage, reportIdsOf } from '../../api/index.ts';
import { exactText } from '../../checks/index.ts';
import type { Archive } from '../../core/archive-port.ts';
import type { Clock } from '../../core/clock.ts';
import type { UtcDay } from '../../core/day.ts';
import { canonicalJson, isObject } from '../../core/json.ts';
import { elementTexts } from '../../core/json-text.ts';
import { doubtText, parseDoubt, type StandingDoubt } from '../../judge/doubt.ts';
import {
  isMostMissing,
  missingReports,
  type WeighedReports,
  weighReports,
} from '../../judge/missing-reports.ts';
import {
  commitReadinessPage,
  endReadinessWalk,
  knownReports,
  readReadinessUnit,
} from '../../ledger/index.ts';
import type { Warehouse } from '../../port/index.ts';
import type { NewAddresses } from '../commit.ts';
import { withAge, withStoredReports } from '../held-rows.ts';
import { normalizeReadiness } from '../normalize/readiness.ts';
import { Findings } from '../normalize/records.ts';
import type { PullCall, Source } from '../pull.ts';
import { unlessTooDeep, validateReports } from '../validate.ts';
import type { DayContext } from './prepare-batch.ts';
import { type WalkState, walkDone } from './readiness-cursor.ts';

const reportId = readerOf(schema.readinessReports, 'report_id');

export interface ReadinessContext extends DayContext {
  readonly source: Source;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  /** Read every report again, even if only new ones are due. */
  readonly force: boolean;
  readonly runId: string;
  readonly acceptLoss: boolean;
  readonly newAddresses: NewAddresses;
  /** Keeps the reports as they came. @default none */
  readonly archive?: Archive | undefined;
  /** @throws {ClaimLostError} if another worker has taken the reports while this one waited for the service. */
  readonly expectClaim: () => void;
  readonly onPage: (page: { reports: number; rowsWritten: number }) => void;
}

/** The result of a walk. */
export type ReadinessOutcome = Readonly<WalkTotal>;

/** The IDs of reports and the digests of quarantined records that a pass saw. */
type Seen = { readonly reports: Set<string>; readonly quarantine: Set<string> };

export interface Pass {
  readonly state: WalkState;
  /** Everything that the service has; null if the pass did not see all of it. */
  readonly seen: Seen | null;
  /** The IDs of the reports that were stored when a pass over all of them ended; empty after any other pass. */
  readonly stored: readonly string[];
}

/** The totals of all passes of a walk. */
export type WalkTotal = {
  rowsWritten: number;
  restated: boolean;
  quarantined: number;
  requests: number;
  warnings: string[];
  /** The doubt, if so many stored reports are missing that the list is not believed. */
  doubt: StandingDoubt | null;
};

/** Stores a page, unless a head pass finds that it knows all of it. */
export async function storePage(
  context: ReadinessContext,
  call: PullCall,
  step: { page: ReadinessPage; state: WalkState; seen: Seen },
  total: WalkTotal,
): Promise<{ known: boolean }> {
  const { warehouse, orgId } = context;
  const { page, state, seen } = step;
  const findings = new Findings();
  const answered = normalizePage(page, context, findings);
  const tables = await withStoredReports(answered, findings.held, context);
  const reports = tables.find(({ table }) => table === schema.readinessReports);
  const ids = (reports?.rows ?? []).map(reportId).map(String);
  // A report in quarantine still exists, so its stored rows stay.
  for (const id of reportIdsOf(page)) seen.reports.add(id);
  for (const { recordSha256 } of findings.quarantined) seen.quarantine.add(recordSha256);
  total.warnings.push(...findings.warnings);
  total.quarantined += findings.quarantined.length;
  if (state.pass === 'head' && findings.quarantined.length === 0) {
    const known = await knownReports(warehouse, orgId, tables);
    if (ids.every((id) => known.has(id))) return { known: true };
  }
  const cursor = canonicalJson(state);
  const pulledAt = context.clock.now();
  const unit = { stream: 'readiness' } as const;
  const { quarantined } = await withAge(findings.quarantined, { warehouse, orgId, unit, now: pulledAt });
  await context.newAddresses.list();
  const archived = await beginPage(context, page, { cursor, pulledAt, valid: new Set(ids) });
  const outcome = await commitReadinessPage(warehouse, {
    orgId,
    tables,
    cursor,
    quarantined,
    drift: findings.drift,
    requests: takeRequests(call, total),
    pulledAt,
    runId: context.runId,
  });
  await context.archive?.end(archived, 'committed');
  total.rowsWritten += outcome.rowsWritten;
  total.restated ||= outcome.restated;
  context.onPage({ reports: page.reports.length, rowsWritten: outcome.rowsWritten });
  return { known: false };
}

/** Notes the reports of a page in the archive, if there is one, before they are committed. */
async function beginPage(
  { archive, orgId, runId }: ReadinessContext,
  page: ReadinessPage,
  {
    valid,
    ...step
  }: { readonly cursor: string; readonly pulledAt: Date; readonly valid: ReadonlySet<string> },
): Promise<readonly string[]> {
  if (archive === undefined) return [];
  const reports = elementTexts(page.text, 'reports').map((text, index) => ({
    id: idOf(page.reports[index], valid),
    text,
  }));
  return archive.beginPage({ orgId, runId, ...step, reports });
}

/** The ID of a report. One in quarantine has none: it does not replace the stored report with its ID. */
function idOf(report: unknown, valid: ReadonlySet<string>): string | null {
  const id = isObject(report) ? report['reportId'] : null;
  return typeof id === 'string' && valid.has(id) ? id : null;
}

/** Validates and normalizes a page. What cannot be stored is added to `findings`. */
export function normalizePage(page: ReadinessPage, { orgId }: DayContext, findings: Findings): TableRows[] {
  const exact = exactText(page);
  const normalizer = normalizeReadiness();
  return unlessTooDeep('pull readiness', () => {
    const { rows, rejected } = validateReports(page);
    for (const report of rows) normalizer.add(report, { orgId, findings, exact });
    for (const part of rejected) findings.reject(part, exact);
    return normalizer.finish();
  });
}

/**
 * Ends a walk: deletes the reports that are gone. Others that are missing stay, and are doubted if they are many.
 * @param pass.storedBefore the IDs of the reports that were stored when the walk began.
 */
export async function endWalk(
  context: ReadinessContext,
  call: PullCall,
  pass: Pass & { readonly today: UtcDay; readonly storedBefore: ReadonlySet<string> },
  total: WalkTotal,
): Promise<void> {
  const { warehouse, orgId, clock, runId, archive } = context;
  const done = walkDone(pass.state, pass.seen === null ? null : pass.today);
  const { gone, doubt } = await weighMissing(context, pass);
  const isDoubted = doubt !== null && isMostMissing(doubt);
  if (isDoubted) total.doubt = doubt;
  else if (doubt !== null) total.warnings.push(describeMissing(doubt));
  const cursor = canonicalJson(done);
  const pulledAt = clock.now();
  const seen = pass.seen === null ? null : { ...pass.seen, reports: without(gone, pass) };
  const archived = (await archive?.beginWalkEnd({ orgId, runId, pulledAt, cursor, seen })) ?? [];
  const outcome = await endReadinessWalk(warehouse, {
    orgId,
    cursor,
    seenReportIds: seen?.reports ?? null,
    seenQuarantine: seen?.quarantine ?? null,
    doubt: doubt === null ? undefined : { doubt: doubtText(doubt), since: doubt.since, isDoubted },
    requests: takeRequests(call, total),
    pulledAt,
    runId,
  });
  await archive?.end(archived, 'committed');
  total.rowsWritten += outcome.rowsWritten;
  total.restated ||= outcome.restated;
}

/** The reports that stay: those that the pass saw, and the stored ones that are not gone. */
function without(gone: readonly string[], { seen, stored }: Pass): ReadonlySet<string> {
  const kept = new Set([...(seen?.reports ?? []), ...stored]);
  for (const id of gone) kept.delete(id);
  return kept;
}

/** Decides about the stored reports that a walk did not see. A walk that did not see all reports changes nothing. */
async function weighMissing(
  { warehouse, orgId, clock, acceptLoss }: ReadinessContext,
  { seen, stored, storedBefore }: Pass & { readonly storedBefore: ReadonlySet<string> },
): Promise<WeighedReports> {
  const unit = await readReadinessUnit(warehouse, orgId);
  const standing = parseDoubt(unit?.doubt ?? null, unit?.doubtedAt ?? null);
  if (seen === null) return { gone: [], doubt: standing };
  const missing = stored.filter((id) => !seen.reports.has(id));
  const fresh = missing.filter((id) => !storedBefore.has(id)).length;
  const loss = { missing, stored: storedBefore.size, fresh };
  return weighReports(standing, loss, { now: clock.now(), acceptsLoss: acceptLoss });
}

/** How many reports a warning names; `daywalk status` lists more. */
const NAMED_MAX = 5;

function describeMissing(doubt: StandingDoubt): string {
  const missing = missingReports(doubt);
  const named = missing.slice(0, NAMED_MAX).map(({ reportId }) => JSON.stringify(reportId));
  const more = missing.length > NAMED_MAX ? ` and ${missing.length - NAMED_MAX} more` : '';
  return (
    `readiness: the list lacks ${doubt.rows} of ${doubt.of} stored reports since ${doubt.since}: ${named.join(', ')}${more}; ` +
    'they stay until a full pass on another UTC day lacks them too'
  );
}

/** The requests since the last commit; each is recorded once. */
function takeRequests({ meter }: PullCall, total: WalkTotal): number {
  const requests = meter.requests;
  total.requests += requests;
  meter.requests = 0;
  return requests;
}
