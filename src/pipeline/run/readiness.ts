import {
  type ReadinessPage,
  ReportLimit,
  reportIdsOf,
  walkReadiness as walkReadinessPages,
} from '../../api/index.ts';
import { dayOf } from '../../core/day.ts';
import { ClaimLostError, UnitError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { BadRequestError } from '../../http/index.ts';
import { readReadinessUnit, readReportIds } from '../../ledger/index.ts';
import type { Patience } from '../../patience/index.ts';
import type { RunLock } from '../../port/index.ts';
import { type LedgerUnit, readinessKey } from '../../units/index.ts';
import type { RunObserver } from '../events.ts';
import { type PullCall, pullReadinessPage } from '../pull.ts';
import { ClaimWait } from './claim-wait.ts';
import type { KnownLedger } from './known-ledger.ts';
import type { Outcomes } from './outcomes.ts';
import {
  afterPage,
  firstPass,
  fullPass,
  headPass,
  isNewestFirst,
  parseWalkState,
  type WalkState,
  withLimit,
} from './readiness-cursor.ts';
import {
  endWalk,
  type Pass,
  type ReadinessContext,
  type ReadinessOutcome,
  storePage,
  type WalkTotal,
} from './readiness-pages.ts';
import type { RunCounts } from './run-counts.ts';

/** The pause between two attempts to claim the unit. */
const PAUSE_MS = 500;
/** How many times a walk resumes after its claim was lost with the connection. */
const LOST_MAX = 3;

interface ReadinessRun extends Omit<ReadinessContext, 'onPage' | 'expectClaim'> {
  readonly patience?: Pick<Patience, 'listen'> | undefined;
  readonly lock: RunLock;
  readonly outcomes: Outcomes;
  readonly counts: RunCounts;
  readonly observe: RunObserver;
  readonly stop: AbortController;
  readonly ledger: KnownLedger;
  /** The ledger as the plan saw it. */
  readonly planned: readonly LedgerUnit[];
}

/**
 * Brings the readiness reports up to date, one worker at a time. Does nothing if another worker has done so since the
 * plan.
 */
export async function pullReadiness(work: ReadinessRun): Promise<void> {
  const key = readinessKey(work.orgId);
  try {
    const unit = await claimUnit(work);
    if (unit === undefined) return;
    const before = work.planned.find(({ stream }) => stream === 'readiness')?.attempts ?? 0;
    if (unit.attempts !== before && unit.state !== 'failed') work.outcomes.recordOtherWorker(unit);
    else await walkClaimed(work);
    await work.lock.free([key]);
  } catch (error) {
    work.stop.abort(error);
  }
}

/** Claims the unit. Undefined if the run ends first, or if another worker holds it for too long. */
async function claimUnit(work: ReadinessRun): Promise<LedgerUnit | undefined> {
  const { lock, orgId, clock, stop, outcomes, warehouse } = work;
  const key = readinessKey(orgId);
  const warn = (message: string, hint: string) => outcomes.warn(message, hint);
  // Each page that the other worker stores changes the cursor or the number of requests.
  const progress = async () => {
    const { cursor, requests } = (await readReadinessUnit(warehouse, orgId)) ?? {};
    return `${requests} ${cursor}`;
  };
  const wait = new ClaimWait({ clock, pauseMs: PAUSE_MS, warn, progress });
  let isWaiting = false;
  while (!stop.signal.aborted) {
    const [unit] = await lock.claim([key]);
    if (unit !== undefined) return unit;
    if (!isWaiting) await wait.begin();
    isWaiting = true;
    if (await wait.pause([key], stop.signal)) continue;
    outcomes.leaveHeldUnits([key]);
    return undefined;
  }
  return undefined;
}

/** Walks until a claim holds to the end. Each page is stored with its cursor, so none is requested twice. */
async function walkClaimed(work: ReadinessRun): Promise<void> {
  for (let lost = 0; lost < LOST_MAX; lost += 1) {
    if ((await walk(work, { mayBeLost: true })) === 'ended') return;
    if ((await claimUnit(work)) === undefined) return;
  }
  await walk(work, { mayBeLost: false });
}

async function walk(work: ReadinessRun, { mayBeLost }: { mayBeLost: boolean }): Promise<'ended' | 'lost'> {
  const { outcomes, counts, observe, warehouse, orgId } = work;
  const call: PullCall = { signal: work.stop.signal, meter: { requests: 0, retries: 0 } };
  let rowsCounted = 0;
  const onPage = (page: { reports: number; rowsWritten: number }) => {
    // A stored page counts, whether or not the walk succeeds.
    rowsCounted += page.rowsWritten;
    counts.addRows(page.rowsWritten);
    observe({ type: 'readiness-page', ...page });
  };
  const claim = restingClaim(work);
  try {
    const outcome = await walkReadiness({ ...work, onPage, expectClaim: claim.expect }, call);
    const unit = await readReadinessUnit(warehouse, orgId);
    counts.addRows(outcome.rowsWritten - rowsCounted);
    if (unit !== null) work.ledger.put([unit]);
    if (outcome.doubt !== null) {
      const { rule, rows, of, since } = outcome.doubt;
      observe({ type: 'unit-doubted', stream: 'readiness', rule, rows, of, since });
    }
    const { state = 'loaded', rows = 0 } = unit ?? {};
    outcomes.recordDone({ stream: 'readiness' }, { ...outcome, state, rows });
    outcomes.recordAnswer('readiness');
  } catch (error) {
    if (mayBeLost && error instanceof ClaimLostError) return 'lost';
    await outcomes.recordFailure({ stream: 'readiness' }, call.meter.requests, error);
  } finally {
    claim.leave();
  }
  return 'ended';
}

/** Lets the claim of a walk go while the service is waited for, until `leave` is called. */
function restingClaim({ patience, lock, warehouse, orgId, source }: ReadinessRun) {
  const key = readinessKey(orgId);
  const stored = async () => JSON.stringify(await readReadinessUnit(warehouse, orgId));
  let before = '';
  let isGone = false;
  const leave = patience?.listen({
    url: source.hosts.appUrl,
    begins: async () => {
      before = await stored();
      await lock.free([key]);
    },
    ends: async () => {
      const [unit] = await lock.claim([key]);
      isGone ||= unit === undefined || before !== (await stored());
      if (isGone) await lock.free([key]);
    },
  });
  return {
    leave: () => leave?.(),
    expect: () => {
      if (!isGone) return;
      throw new ClaimLostError('another worker took the reports while this one waited for the service');
    },
  };
}

/** How many times a pass starts over because the report under its cursor is gone. */
const RESTARTS_MAX = 3;

/**
 * Brings the readiness reports up to date: pass after pass, until one has ended that began at the first page in this
 * run. Each page is committed with its cursor, so an interrupted walk resumes there.
 * @throws {UnitError} if the service pages in circles or keeps losing its cursors.
 */
async function walkReadiness(context: ReadinessContext, call: PullCall): Promise<ReadinessOutcome> {
  const { warehouse, orgId, clock, force } = context;
  const unit = await readReadinessUnit(warehouse, orgId);
  const last = parseWalkState(unit?.cursor ?? null);
  const today = dayOf(clock.now());
  const storedBefore = new Set(await readReportIds(warehouse, orgId));
  const total: WalkTotal = {
    rowsWritten: 0,
    restated: false,
    quarantined: 0,
    requests: 0,
    warnings: [],
    doubt: null,
  };
  // Only a pass over all reports shows which ones were corrected or are back.
  const needsFull = unit?.state === 'quarantined' || unit?.doubt !== null;
  let state = firstPass(last, { today, force, quarantined: unit !== null && needsFull });
  for (;;) {
    const resumed = state.startAfter !== null;
    const pass = await readPass(context, call, state, total);
    if (!resumed) {
      await endWalk(context, call, { ...pass, today, storedBefore }, total);
      return total;
    }
    // Reports that were added during the interruption may come before the page at which the walk resumed.
    state = isNewestFirst(pass.state) ? headPass(pass.state) : fullPass(pass.state);
  }
}

/** Reads one pass. Starts over if the service no longer knows the report under the cursor. */
async function readPass(
  context: ReadinessContext,
  call: PullCall,
  from: WalkState,
  total: WalkTotal,
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
  total: WalkTotal,
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
    if (state.pass === 'head' && known) return { state, seen: null, stored: [] };
  }
  state = withLimit(state, limit.current);
  // A pass that began in the middle does not know what is gone.
  if (from.startAfter !== null) return { state, seen: null, stored: [] };
  const stored = await readReportIds(context.warehouse, context.orgId);
  if (stored.some((id) => !seen.reports.has(id))) {
    await confirmEnd(get, beforeLast, state.startAfter);
  }
  return { state, seen, stored };
}

/**
 * Makes sure that the walk ended because no report follows, before stored reports count as gone. An empty page could
 * also mean that the report under the cursor was deleted, or be a mistake.
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

/** The report under the cursor is gone. */
class CursorLostError extends Error {}

async function pageAfter(
  { source, expectClaim }: ReadinessContext,
  call: PullCall,
  startAfter: string | undefined,
  limit: ReportLimit,
): Promise<ReadinessPage> {
  try {
    const page = await pullReadinessPage(source, startAfter, call, limit);
    expectClaim();
    return page;
  } catch (error) {
    expectClaim();
    // The service refuses a cursor whose report was deleted.
    if (error instanceof BadRequestError && startAfter !== undefined)
      throw new CursorLostError('', { cause: error });
    throw error;
  }
}

function instantsOf(page: ReadinessPage): number[] {
  return page.reports.flatMap((report) =>
    isObject(report) && typeof report['createdAt'] === 'number' ? [report['createdAt']] : [],
  );
}
