import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import { EXIT } from '../../core/exit-code.ts';
import type { RunReport } from '../events.ts';
import { type PlanRequest, planUnits } from '../plan.ts';
import { identify } from './identify.ts';
import { Tally } from './tally.ts';
import { Work, type WorkOptions } from './work.ts';

/** What a run needs. The warehouse must be locked by the caller. */
export interface RunOptions extends PlanRequest, WorkOptions {
  readonly command: string;
  /** Units in flight at most. */
  readonly concurrency: number;
  readonly versions: Readonly<Record<string, string>>;
  /** Aborted when the run is to end at the next unit boundary. */
  readonly signal: AbortSignal;
}

/**
 * Walks every planned unit: plan, pull, validate, normalize, commit. A unit that fails is recorded and the others go
 * on; what ends the run early is in the report too. May be repeated at will: it resumes from the ledger.
 * @throws {StorageError} when not even the end of the run could be recorded.
 */
export async function runUnits(options: RunOptions): Promise<RunReport> {
  const { clock, warehouse, command, observe, source } = options;
  const run = { runId: randomUUID(), command };
  const startedMs = clock.monotonicMs();
  const tally = new Tally();
  observe({ type: 'run-started', ...run, warehouse: warehouse.location });
  await warehouse.startRun({ ...run, startedAt: clock.now(), versions: options.versions });
  try {
    await walk(options, tally);
  } catch (error) {
    tally.ended(error);
  }
  const { requests, retries } = source.transport.totals;
  const report = tally.report(run, { requests, retries, durationMs: clock.monotonicMs() - startedMs });
  await recordEnd(options, report);
  observe({ type: 'run-ended', report });
  return report;
}

const OUTRANKS_RECORD: ReadonlySet<number> = new Set([
  EXIT.storage,
  EXIT.busy,
  EXIT.interrupted,
  EXIT.terminated,
]);

async function recordEnd({ warehouse, clock }: RunOptions, report: RunReport): Promise<void> {
  const { runId, orgId, exitCode, unitsDone, unitsFailed, rowsWritten, requests, retries } = report;
  const end = { runId, orgId, exitCode, unitsDone, unitsFailed, rowsWritten, requests, retries };
  try {
    await warehouse.endRun({ ...end, endedAt: clock.now() });
  } catch (error) {
    // What ended the run outranks that its end could not be recorded; it shows as a run without an end.
    if (!OUTRANKS_RECORD.has(exitCode)) throw error;
  }
}

async function walk(options: RunOptions, tally: Tally): Promise<void> {
  // One reason to stop, of whatever kind, reaches every request in flight.
  const stop = new AbortController();
  // Every request in flight listens; that is no leak.
  setMaxListeners(0, stop.signal);
  const forward = () => stop.abort(options.signal.reason);
  if (options.signal.aborted) forward();
  options.signal.addEventListener('abort', forward, { once: true });
  try {
    await walkUntil(options, tally, stop);
  } finally {
    options.signal.removeEventListener('abort', forward);
  }
}

async function walkUntil(options: RunOptions, tally: Tally, stop: AbortController): Promise<void> {
  const { source, warehouse, observe, firstDay, lastDay } = options;
  const identity = await identify(source, options, stop.signal);
  const { orgId } = identity;
  const plan = planUnits(options, await warehouse.units(orgId));
  tally.orgId = orgId;
  tally.range = { firstDay, lastDay };
  tally.planned = plan.units.length + Number(plan.readiness);
  observe({ type: 'planned', orgId, units: tally.planned, firstDay, lastDay, streams: options.streams });

  const work = new Work(options, tally, stop, identity);
  const limit = pLimit(options.concurrency);
  const tasks = plan.units.map((unit) => limit(() => work.day(unit)));
  if (plan.readiness) tasks.unshift(work.readiness());
  await Promise.all(tasks);
  work.reportLeftOut();
  if (stop.signal.aborted) throw stop.signal.reason;
}
