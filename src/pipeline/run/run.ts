import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { yesterdayOf } from '../../core/day.ts';
import { messageOf } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { MUCH_WRITTEN_ROWS } from '../../warehouse/port.ts';
import { refreshRollups } from '../../warehouse/rollups/refresh.ts';
import type { RunReport } from '../events.ts';
import { RunCounts } from './run-counts.ts';
import type { NamedRun, RunOptions } from './run-options.ts';
import { countDoubtedBefore } from './suspect-units.ts';
import { walkPlan } from './walk-plan.ts';

/**
 * Pulls and commits every planned unit. A unit that fails is recorded, and the others continue. If an error ends the run
 * early, the report holds it. May be repeated: each run resumes from the ledger.
 * @throws {StorageError} when the end of the run could not be recorded.
 */
export async function runUnits(options: RunOptions): Promise<RunReport> {
  const { clock, warehouse, command, observe, source } = options;
  const { named } = options;
  const run = { runId: randomUUID(), command, ...(named !== undefined && { organization: named.name }) };
  const startedMs = clock.monotonicMs();
  const lastDayDue = yesterdayOf(clock.now());
  const counts = new RunCounts();
  observe({ type: 'run-started', ...run, warehouse: warehouse.location });
  await warehouse.startRun({ runId: run.runId, command, startedAt: clock.now(), versions: options.versions });
  try {
    await walk({ ...options, runId: run.runId }, counts);
  } catch (error) {
    counts.recordEnd(error);
    if (counts.orgId === null) counts.doubted = await countDoubtedBefore(options);
  }
  await refreshAll(options, counts);
  if (counts.rowsWritten >= MUCH_WRITTEN_ROWS) await refreshStatistics(options);
  const { requests, retries } = source.transport.totals;
  const responses = Object.fromEntries(source.transport.responses);
  const report = counts.report(run, {
    ...{ requests, retries, responses, durationMs: clock.monotonicMs() - startedMs },
    completed: options.lastDay >= lastDayDue ? counts.completedOf(options.streams) : [],
  });
  await recordEnd(options, report);
  observe({ type: 'run-ended', report });
  return report;
}

/** Computes the rollups that differ from the ledger, also after units failed or an earlier run was killed. */
async function refreshAll(options: RunOptions, counts: RunCounts): Promise<void> {
  const { warehouse, clock, signal, force, streams } = options;
  const { orgId, range } = counts;
  if (orgId === null || signal.aborted || counts.exitCode === EXIT.storage) return;
  const forced = force && streams.includes('users') && range !== null ? range : undefined;
  try {
    await refreshRollups(warehouse, { orgId, now: clock.now(), signal, force: forced });
  } catch (error) {
    counts.recordEnd(error);
  }
}

/** A failure is only a warning: queries are slower, and the data are complete. */
async function refreshStatistics({ warehouse, signal, observe }: RunOptions): Promise<void> {
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

async function recordEnd({ warehouse, clock }: RunOptions, report: RunReport): Promise<void> {
  try {
    await warehouse.endRun({ ...report, endedAt: clock.now() });
  } catch (error) {
    // The error that ended the run matters more than the missing record; status shows a run without an end.
    if (!OUTRANKS_RECORD.has(report.exitCode)) throw error;
  }
}

async function walk(options: NamedRun, counts: RunCounts): Promise<void> {
  // Aborting it ends every request in flight.
  const stop = new AbortController();
  // Every request in flight listens; that is no leak.
  setMaxListeners(0, stop.signal);
  const forward = () => stop.abort(options.signal.reason);
  if (options.signal.aborted) forward();
  options.signal.addEventListener('abort', forward, { once: true });
  try {
    await walkPlan(options, counts, stop);
  } finally {
    options.signal.removeEventListener('abort', forward);
  }
}
