import { ClaimLostError } from '../../../core/errors.ts';
import { type LedgerUnit, type RunLock, readinessKey } from '../../../warehouse/port.ts';
import type { RunObserver } from '../../events.ts';
import type { PullCall } from '../../pull.ts';
import { ClaimWait } from '../claims/claim-wait.ts';
import type { KnownLedger } from '../known-ledger.ts';
import type { Outcomes } from '../outcomes.ts';
import type { RunCounts } from '../run-counts.ts';
import type { ReadinessContext } from './store-page.ts';
import { walkReadiness } from './walk-reports.ts';

/** The pause between two attempts to claim the unit. */
const PAUSE_MS = 500;
/** How many times a walk resumes after its claim was lost with the connection. */
const LOST_MAX = 3;

export interface ReadinessRun extends Omit<ReadinessContext, 'onPage'> {
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
    const { cursor, requests } = (await warehouse.readinessUnit(orgId)) ?? {};
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
  try {
    const outcome = await walkReadiness({ ...work, onPage }, call);
    const unit = await warehouse.readinessUnit(orgId);
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
  }
  return 'ended';
}
