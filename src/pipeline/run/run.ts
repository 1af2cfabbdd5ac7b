import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { EXIT } from '../../core/exit-code.ts';
import type { RunReport } from '../events.ts';
import { type PlanRequest, planUnits } from '../plan.ts';
import { begin } from './begin.ts';
import { KnownDays } from './known-answers.ts';
import { Outcomes } from './outcomes.ts';
import { RangeGauge, rowsPerDay } from './range-gauge.ts';
import { Schedule } from './schedule.ts';
import { Tally } from './tally.ts';
import { UnitClaims } from './unit-claims.ts';
import { Work, type WorkOptions } from './work.ts';
import { workOnReadiness } from './work-on-readiness.ts';
import { Writer } from './writer.ts';

/** What a run needs. The caller has locked the warehouse, and releases the lock. */
export interface RunOptions extends PlanRequest, WorkOptions {
  readonly command: string;
  /** Batches of units in flight at most. */
  readonly concurrency: number;
  /** Days of one request at most. */
  readonly rangeDays: number;
  /** The organization, where it is named; the service is asked for it otherwise. */
  readonly orgId?: string | null;
  /** True when the application host has a credential of its own, whose refusal says nothing of the main one. */
  readonly hasAppKey?: boolean;
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
  const { warehouse, observe, clock, lock, firstDay, hasAppKey = false } = options;
  const beginning = await begin(options, stop.signal);
  const { orgId, lastDay, organizationsBefore } = beginning;
  const ledger = await warehouse.units(orgId);
  const plan = planUnits({ ...options, lastDay }, ledger);
  tally.orgId = orgId;
  tally.organizationsBefore = organizationsBefore;
  tally.range = { firstDay, lastDay };
  tally.planned = plan.units.length + Number(plan.readiness);
  observe({ type: 'planned', orgId, units: tally.planned, firstDay, lastDay, streams: options.streams });

  const outcomes = new Outcomes({ orgId, warehouse, clock, observe, tally, stop, hasAppKey });
  if (beginning.first !== undefined) outcomes.answered(beginning.first.unit.stream);
  const schedule = new Schedule(plan.units, options);
  const claims = new UnitClaims({ orgId, lock, clock, schedule, outcomes, planned: ledger });
  const writer = new Writer((commits) => warehouse.commitDays(commits));
  const gauge = new RangeGauge(options.rangeDays, rowsPerDay(ledger));
  const known = new KnownDays(options.force ? [] : ledger);
  const parts = { schedule, gauge, claims, writer, outcomes, known };
  const work = new Work(options, parts, { stop, beginning });
  const readiness = plan.readiness
    ? workOnReadiness({ ...options, orgId, outcomes, tally, stop, planned: ledger })
    : undefined;
  do {
    await pullAll(work, options.concurrency);
    await writer.idle();
    // A claim that was lost on the way leaves something to do; so may a worker that died.
  } while (!stop.signal.aborted && (!schedule.isEmpty || (await claims.awaitOthers(stop.signal))));
  await readiness;
  outcomes.reportLeftOut();
  if (stop.signal.aborted) throw stop.signal.reason;
}

/** Keeps so many batches in flight until there is none to begin and none under way. */
function pullAll(work: Work, concurrency: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let running = 0;
    const fill = () => {
      for (let task = free(); task !== undefined; task = free()) {
        running += 1;
        task().then(ended, reject);
      }
      if (running === 0) resolve();
    };
    const free = () => (running < concurrency ? work.next() : undefined);
    const ended = () => {
      running -= 1;
      fill();
    };
    fill();
  });
}
