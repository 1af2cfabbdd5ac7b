import type { Clock } from '../../core/clock.ts';
import { messageOf, StorageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { readUnits } from '../../ledger/index.ts';
import type { Warehouse } from '../../port/index.ts';
import { endRun } from '../../records/index.ts';
import { refreshRollups } from '../../rollups/index.ts';
import { unitName } from '../../units/index.ts';
import { publishWeeks } from '../../weeks/index.ts';
import type { RunObserver, RunReport } from '../events.ts';
import { namesOf } from './claim-wait.ts';
import type { KnownLedger } from './known-ledger.ts';
import type { RunCounts } from './run-counts.ts';

/** What the end of a run needs. */
interface EndOptions {
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly observe: RunObserver;
  /** True for a run that pulls settled units too. */
  readonly force: boolean;
  readonly minGroup: number;
  readonly signal: AbortSignal;
}

/**
 * Makes sure that the warehouse still has what this run has committed. Attempts are only ever added to.
 * @throws {StorageError} if a server has lost some of it, such as a standby that took over unnoticed.
 */
export async function expectKept(warehouse: Warehouse, orgId: string, known: KnownLedger): Promise<void> {
  const stored = new Map((await readUnits(warehouse, orgId)).map((unit) => [unitName(unit), unit.attempts]));
  const lost = known.all().filter((unit) => (stored.get(unitName(unit)) ?? 0) < unit.attempts);
  if (lost.length === 0) return;
  throw new StorageError(
    `the warehouse ${warehouse.location} has lost ${namesOf(lost)} since they were stored`,
    {
      hint: 'run the command again: it resumes from what the server has',
    },
  );
}

/** Computes what follows from the days: rollups that differ from the ledger, also after failures; then weeks to publish. */
export async function refreshAll(options: EndOptions, counts: RunCounts): Promise<void> {
  const { warehouse, clock, signal, force, minGroup } = options;
  const { orgId, request } = counts;
  if (orgId === null || signal.aborted || counts.exitCode === EXIT.storage) return;
  const forced = force && request?.streams.includes('users') ? request : undefined;
  try {
    await refreshRollups(warehouse, { orgId, now: clock.now(), signal, force: forced });
    if (!signal.aborted) await publishWeeks(warehouse, { orgId, minGroup, signal });
  } catch (error) {
    counts.recordEnd(error);
  }
}

/** Refreshes the statistics of the database. A failure is only a warning: queries are slower, and the data are complete. */
export async function refreshStatistics({ warehouse, signal, observe }: EndOptions): Promise<void> {
  if (signal.aborted) return;
  try {
    await warehouse.refreshStatistics();
  } catch (error) {
    observe({
      type: 'warning',
      message: messageOf(error),
      hint: 'queries may be slow until the next run that writes many rows; the data are complete',
    });
  }
}

const OUTRANKS_RECORD: ReadonlySet<number> = new Set([
  EXIT.storage,
  EXIT.busy,
  EXIT.interrupted,
  EXIT.terminated,
]);

/** Records how the run ended. */
export async function recordEnd({ warehouse, clock }: EndOptions, report: RunReport): Promise<void> {
  try {
    await endRun(warehouse, { ...report, endedAt: clock.now() });
  } catch (error) {
    // The error that ended the run matters more than the missing record; status shows a run without an end.
    if (!OUTRANKS_RECORD.has(report.exitCode)) throw error;
  }
}
