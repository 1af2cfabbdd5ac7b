import { exactText } from '../../api/exact.ts';
import { BadRequestError } from '../../api/http/errors.ts';
import { type ReadinessPage, reportIdsOf, walkReadiness as walkReadinessPages } from '../../api/pages.ts';
import { ReportLimit } from '../../api/report-limit.ts';
import type { Clock } from '../../core/clock.ts';
import { dayOf, type UtcDay } from '../../core/day.ts';
import { UnitError } from '../../core/errors.ts';
import { canonicalJson, isObject } from '../../core/json.ts';
import { doubtText, parseDoubt, type StandingDoubt, weighLoss } from '../../judge/doubt.ts';
import { lossOf } from '../../judge/loss.ts';
import type { TableRows, Warehouse } from '../../warehouse/port.ts';
import { Findings } from '../findings.ts';
import { normalizeReadiness } from '../normalize/readiness.ts';
import { type PullCall, pullReadinessPage, type Source } from '../pull.ts';
import { unlessTooDeep } from '../too-deep.ts';
import { validateReports } from '../validate.ts';
import type { DayContext } from './days.ts';
import {
  afterPage,
  firstPass,
  fullPass,
  headPass,
  isNewestFirst,
  parseWalkState,
  type WalkState,
  walkDone,
  withLimit,
} from './walk-state.ts';

/** How often a walk starts over when the report under its cursor is gone. */
const RESTARTS_MAX = 3;

/** What a walk needs. */
export interface ReadinessContext extends DayContext {
  readonly source: Source;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  /** Read every report again, whatever the ledger says. */
  readonly force: boolean;
  readonly runId: string;
  readonly acceptLoss: boolean;
  readonly onPage: (page: { reports: number; rowsWritten: number }) => void;
}

/** What a walk did. */
export interface ReadinessOutcome {
  readonly rowsWritten: number;
  readonly restated: boolean;
  readonly quarantined: number;
  readonly requests: number;
  readonly warnings: readonly string[];
  /** Stored reports are gone, and that is not believed yet. */
  readonly doubt: StandingDoubt | null;
}

/**
 * Brings the readiness reports up to date: pass after pass until one ended that began at the first page in this very
 * run. Each page is committed with its cursor, so a walk that is interrupted goes on where it was.
 * @throws {UnitError} when the service pages in circles or keeps losing its cursors.
 */
export async function walkReadiness(context: ReadinessContext, call: PullCall): Promise<ReadinessOutcome> {
  const { warehouse, orgId, clock, force } = context;
  const unit = await warehouse.readinessUnit(orgId);
  const last = parseWalkState(unit?.cursor ?? null);
  const today = dayOf(clock.now());
  const total: Total = {
    rowsWritten: 0,
    restated: false,
    quarantined: 0,
    requests: 0,
    warnings: [],
    doubt: null,
  };
  // Only a pass over all reports tells which are set right, or are back.
  const needsFull = unit?.state === 'quarantined' || unit?.doubt !== null;
  let state = firstPass(last, { today, force, quarantined: unit !== null && needsFull });
  for (;;) {
    const resumed = state.startAfter !== null;
    const pass = await onePass(context, call, state, total);
    if (!resumed) {
      await endWalk(context, call, { ...pass, today }, total);
      return total;
    }
    // What was added while the walk was interrupted may stand before the page from which it went on.
    state = isNewestFirst(pass.state) ? headPass(pass.state) : fullPass(pass.state);
  }
}

/** How a pass ended. */
interface Pass {
  readonly state: WalkState;
  /** All reports and quarantined records of the service; null where the pass did not see them all. */
  readonly seen: Seen | null;
}

type Total = {
  rowsWritten: number;
  restated: boolean;
  quarantined: number;
  requests: number;
  warnings: string[];
  doubt: StandingDoubt | null;
};

/** Reads one pass; from the first page again when the service no longer knows the report under the cursor. */
async function onePass(
  context: ReadinessContext,
  call: PullCall,
  from: WalkState,
  total: Total,
): Promise<Pass> {
  let state = from;
  for (let restarts = 0; restarts <= RESTARTS_MAX; restarts += 1) {
    try {
      return await readPages(context, call, state, total);
    } catch (error) {
      if (!(error instanceof CursorLostError)) throw error;
      state = fullPass(state);
    }
  }
  throw new UnitError(`pull readiness: the cursor was lost ${RESTARTS_MAX + 1} times`, {
    hint: 'reports may be deleted faster than they are read; run again later',
  });
}

async function readPages(
  context: ReadinessContext,
  call: PullCall,
  from: WalkState,
  total: Total,
): Promise<Pass> {
  const seen = { reports: new Set<string>(), quarantine: new Set<string>() };
  let state = from;
  let beforeLast = from.startAfter;
  const limit = new ReportLimit(from.limit);
  const get = (startAfter: string | undefined) => pageAfter(context, call, startAfter, limit);
  for await (const page of walkReadinessPages(get, 'pull readiness', from.startAfter ?? undefined)) {
    beforeLast = state.startAfter;
    state = withLimit(afterPage(state, instantsOf(page), page.lastId), limit.current);
    const { known } = await storePage(context, call, { page, state, seen }, total);
    if (state.pass === 'head' && known) return { state, seen: null };
  }
  state = withLimit(state, limit.current);
  // A pass that began in the middle cannot tell what is gone.
  if (from.startAfter !== null) return { state, seen: null };
  const stored = await context.warehouse.reportIds(context.orgId);
  if (stored.some((id) => !seen.reports.has(id))) {
    await confirmEnd(get, beforeLast, state.startAfter);
  }
  return { state, seen };
}

/**
 * Makes sure that the walk ended because nothing follows, before stored reports are taken for gone: a service that
 * answers nothing for a cursor whose report was deleted, or nothing by mistake, would look the same.
 */
async function confirmEnd(
  get: (startAfter: string | undefined) => Promise<ReadinessPage>,
  beforeLast: string | null,
  lastId: string | null,
): Promise<void> {
  const lastPage = await get(beforeLast ?? undefined);
  const after = lastId === null ? lastPage : await get(lastId);
  const isEnd = (reportIdsOf(lastPage).at(-1) ?? null) === lastId && after.reports.length === 0;
  if (!isEnd) throw new CursorLostError('the end of the list has changed');
}

type Seen = { readonly reports: Set<string>; readonly quarantine: Set<string> };

/** The report under the cursor is gone. */
class CursorLostError extends Error {}

async function pageAfter(
  { source }: ReadinessContext,
  call: PullCall,
  startAfter: string | undefined,
  limit: ReportLimit,
): Promise<ReadinessPage> {
  try {
    return await pullReadinessPage(source, startAfter, call, limit);
  } catch (error) {
    // A report may be deleted while it is the cursor; the service refuses the cursor then.
    if (error instanceof BadRequestError && startAfter !== undefined)
      throw new CursorLostError('', { cause: error });
    throw error;
  }
}

/** Stores a page, unless a head pass finds that all of it is known. */
async function storePage(
  context: ReadinessContext,
  call: PullCall,
  step: { page: ReadinessPage; state: WalkState; seen: Seen },
  total: Total,
): Promise<{ known: boolean }> {
  const { warehouse, orgId, privacy } = context;
  const { page, state, seen } = step;
  const findings = new Findings(privacy);
  const tables = normalizePage(page, context, findings);
  const ids = (tables[0]?.rows ?? []).map((row) => String(row[1]));
  // A report that is set aside exists all the same: what is stored of it stays.
  for (const id of reportIdsOf(page)) seen.reports.add(id);
  for (const { recordSha256 } of findings.quarantined) seen.quarantine.add(recordSha256);
  total.warnings.push(...findings.warnings);
  total.quarantined += findings.quarantined.length;
  if (state.pass === 'head' && findings.quarantined.length === 0) {
    const known = await warehouse.knownReports(orgId, tables);
    if (ids.every((id) => known.has(id))) return { known: true };
  }
  const outcome = await warehouse.commitReadinessPage({
    orgId,
    tables,
    cursor: canonicalJson(state),
    quarantined: findings.quarantined,
    drift: findings.drift,
    requests: takeRequests(call, total),
    pulledAt: context.clock.now(),
    runId: context.runId,
  });
  total.rowsWritten += outcome.rowsWritten;
  total.restated ||= outcome.restated;
  context.onPage({ reports: page.reports.length, rowsWritten: outcome.rowsWritten });
  return { known: false };
}

function normalizePage(page: ReadinessPage, { orgId, privacy }: DayContext, findings: Findings): TableRows[] {
  const exact = exactText(page);
  const normalizer = normalizeReadiness();
  return unlessTooDeep('pull readiness', () => {
    const { rows, rejected } = validateReports(page);
    for (const report of rows) normalizer.add(report, { orgId, findings, privacy, exact });
    for (const part of rejected) findings.reject(part, exact);
    return normalizer.finish();
  });
}

async function endWalk(
  context: ReadinessContext,
  call: PullCall,
  pass: Pass & { readonly today: UtcDay },
  total: Total,
): Promise<void> {
  const { warehouse, orgId, clock, runId } = context;
  const done = walkDone(pass.state, pass.seen === null ? null : pass.today);
  const doubt = await doubtAfter(context, pass.seen);
  total.doubt = doubt;
  const outcome = await warehouse.endReadinessWalk({
    orgId,
    cursor: canonicalJson(done),
    // While a loss is doubted, new reports are stored and none is deleted.
    seenReportIds: doubt === null ? (pass.seen?.reports ?? null) : null,
    seenQuarantine: pass.seen?.quarantine ?? null,
    doubt: doubt === null ? undefined : { doubt: doubtText(doubt), since: doubt.since },
    requests: takeRequests(call, total),
    pulledAt: clock.now(),
    runId,
  });
  total.rowsWritten += outcome.rowsWritten;
  total.restated ||= outcome.restated;
}

/**
 * The doubt that a walk leaves: too many of the stored reports were not among those that it saw. A walk that did not see
 * them all leaves it as it was.
 */
async function doubtAfter(
  { warehouse, orgId, clock, acceptLoss }: ReadinessContext,
  seen: Seen | null,
): Promise<StandingDoubt | null> {
  const unit = await warehouse.readinessUnit(orgId);
  const standing = parseDoubt(unit?.doubt ?? null, unit?.doubtedAt ?? null);
  if (seen === null) return standing;
  const stored = await warehouse.reportIds(orgId);
  const missing = stored.filter((id) => !seen.reports.has(id));
  const loss = lossOf({ missing, stored: stored.length, setAside: 0 });
  if (loss === null) return null;
  const acceptsLoss = acceptLoss && standing !== null;
  const weighed = weighLoss(standing, loss, { now: clock.now(), acceptsLoss });
  return weighed.verdict === 'doubt' ? weighed.doubt : null;
}

/** The requests since the last commit; each is recorded once. */
function takeRequests({ meter }: PullCall, total: Total): number {
  const requests = meter.requests;
  total.requests += requests;
  meter.requests = 0;
  return requests;
}

function instantsOf(page: ReadinessPage): number[] {
  return page.reports.flatMap((report) =>
    isObject(report) && typeof report['createdAt'] === 'number' ? [report['createdAt']] : [],
  );
}
