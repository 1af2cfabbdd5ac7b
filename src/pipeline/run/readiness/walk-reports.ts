import { BadRequestError } from '../../../api/errors.ts';
import {
  type ReadinessPage,
  reportIdsOf,
  walkReadiness as walkReadinessPages,
} from '../../../api/walk/pages.ts';
import { ReportLimit } from '../../../api/walk/report-limit.ts';
import { dayOf } from '../../../core/day.ts';
import { UnitError } from '../../../core/errors.ts';
import { isObject } from '../../../core/json.ts';
import { type PullCall, pullReadinessPage } from '../../pull.ts';
import {
  endWalk,
  type Pass,
  type ReadinessContext,
  type ReadinessOutcome,
  storePage,
  type WalkTotal,
} from './store-page.ts';
import {
  afterPage,
  firstPass,
  fullPass,
  headPass,
  isNewestFirst,
  parseWalkState,
  type WalkState,
  withLimit,
} from './walk-state.ts';

/** How many times a pass starts over because the report under its cursor is gone. */
const RESTARTS_MAX = 3;

/**
 * Brings the readiness reports up to date: pass after pass, until one has ended that began at the first page in this
 * run. Each page is committed with its cursor, so an interrupted walk resumes there.
 * @throws {UnitError} if the service pages in circles or keeps losing its cursors.
 */
export async function walkReadiness(context: ReadinessContext, call: PullCall): Promise<ReadinessOutcome> {
  const { warehouse, orgId, clock, force } = context;
  const unit = await warehouse.readinessUnit(orgId);
  const last = parseWalkState(unit?.cursor ?? null);
  const today = dayOf(clock.now());
  const stored = await warehouse.reportIds(orgId);
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
      await endWalk(context, call, { ...pass, today, stored }, total);
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
    if (state.pass === 'head' && known) return { state, seen: null };
  }
  state = withLimit(state, limit.current);
  // A pass that began in the middle does not know what is gone.
  if (from.startAfter !== null) return { state, seen: null };
  const stored = await context.warehouse.reportIds(context.orgId);
  if (stored.some((id) => !seen.reports.has(id))) {
    await confirmEnd(get, beforeLast, state.startAfter);
  }
  return { state, seen };
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
  { source }: ReadinessContext,
  call: PullCall,
  startAfter: string | undefined,
  limit: ReportLimit,
): Promise<ReadinessPage> {
  try {
    return await pullReadinessPage(source, startAfter, call, limit);
  } catch (error) {
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
