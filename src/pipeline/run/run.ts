import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { messageOf } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { RULES } from '../../core/rules.ts';
import { type DayUnit, MUCH_WRITTEN_ROWS, unitName } from '../../warehouse/port.ts';
import type { RunReport } from '../events.ts';
import { type PlanRequest, planUnits } from '../plan.ts';
import { UnitClaims } from './claims/unit-claims.ts';
import { Writer } from './days/commit-queue.ts';
import { Work, type WorkOptions } from './days/day-work.ts';
import { KnownDays } from './days/known-answers.ts';
import { SecondLooks } from './days/second-looks.ts';
import { Intake } from './days/sort-days.ts';
import { KnownLedger } from './known-ledger.ts';
import { Outcomes } from './outcomes.ts';
import { workOnReadiness } from './readiness/run-readiness.ts';
import { Tally } from './run-counts.ts';
import { rangeGauge, rememberRange } from './schedule/remembered-range.ts';
import { Schedule } from './schedule/schedule.ts';
import { begin } from './start/scope.ts';
import { acceptedUnits, doubtedBefore, isDoubted } from './suspect-units.ts';
import { lookAtModelSums } from './watch/compare-model-sums.ts';
import { Watch } from './watch/watch.ts';

/** What a run needs. The caller has locked the warehouse, and releases the lock. */
export interface RunOptions extends PlanRequest, WorkOptions {
  readonly command: string;
  /** Batches of units in flight at most. */
  readonly concurrency: number;
  /** Days of one request at most. */
  readonly rangeDays: number;
  /** Settled days so far back are compared with the service in every run, older ones in turn; 0 is off. */
  readonly watchDays: number;
  /** Accept losses that were doubted when the run began, and are no larger now. */
  readonly acceptLoss: boolean;
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
    await walk({ ...options, runId: run.runId }, tally);
  } catch (error) {
    tally.ended(error);
    if (tally.orgId === null) tally.doubted = await doubtedBefore(options);
  }
  if (tally.rowsWritten >= MUCH_WRITTEN_ROWS) await refreshStatistics(options);
  const { requests, retries } = source.transport.totals;
  const report = tally.report(run, { requests, retries, durationMs: clock.monotonicMs() - startedMs });
  await recordEnd(options, report);
  observe({ type: 'run-ended', report });
  return report;
}

/** Queries are slower without it; nothing is wrong in the warehouse. */
async function refreshStatistics({ warehouse, signal, observe }: RunOptions): Promise<void> {
  if (signal.aborted) return;
  try {
    await warehouse.refreshStatistics();
  } catch (error) {
    observe({
      type: 'warning',
      message: messageOf(error),
      hint: 'queries of the warehouse may be slow until a run that writes much; the data are complete',
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
  const { runId, orgId, exitCode, unitsDone, unitsFailed, rowsWritten, requests, retries } = report;
  const end = { runId, orgId, exitCode, unitsDone, unitsFailed, rowsWritten, requests, retries };
  try {
    await warehouse.endRun({ ...end, endedAt: clock.now() });
  } catch (error) {
    // What ended the run outranks that its end could not be recorded; it shows as a run without an end.
    if (!OUTRANKS_RECORD.has(exitCode)) throw error;
  }
}

/** A run with its name. */
type NamedRun = RunOptions & { readonly runId: string };

async function walk(options: NamedRun, tally: Tally): Promise<void> {
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

async function walkUntil(options: NamedRun, tally: Tally, stop: AbortController): Promise<void> {
  const { source, warehouse, observe, clock, lock, firstDay, hasAppKey = false } = options;
  const beginning = await begin(options, stop.signal);
  const { orgId, today, lastDay, organizationsBefore } = beginning;
  const request = { ...options, lastDay };
  const planned = await warehouse.units(orgId);
  const plan = planUnits(request, planned);
  tally.orgId = orgId;
  tally.organizationsBefore = organizationsBefore;
  tally.range = { firstDay, lastDay };
  tally.planned = plan.units.length + Number(plan.readiness);
  observe({ type: 'planned', orgId, units: tally.planned, firstDay, lastDay, streams: options.streams });

  const rule = { today, settleDays: options.settleDays };
  const ledger = new KnownLedger(planned);
  const looks = new SecondLooks(ledger);
  const watch = await Watch.begin({ ...options, orgId, ledger, request, today });
  const outcomes = new Outcomes({ orgId, warehouse, clock, observe, tally, stop, ledger, rule, hasAppKey });
  if (beginning.first !== undefined) outcomes.answered(beginning.first.unit.stream);
  const isWatched = (unit: DayUnit) => watch.settled(unit) !== undefined;
  const schedule = new Schedule(plan.units, { newestFirst: options.newestFirst, isWatched });
  schedule.add(watch.recent);
  const claims = new UnitClaims({ orgId, lock, clock, schedule, outcomes, ledger, isWatched, planned });
  const writer = new Writer((commits) => warehouse.commitDays(commits));
  const gauge = await rangeGauge(options, orgId, ledger, today);
  if (watch.comparesUsers) gauge.compares('users');
  const known = new KnownDays(options.force ? [] : planned);
  const toPull = new Set(plan.units.map(unitName));
  const isPlanned = (unit: DayUnit) => toPull.has(unitName(unit));
  const intake = new Intake({ ...options, orgId, rule, ledger, watch, looks, isPlanned });
  const parts = { schedule, gauge, claims, writer, outcomes, known, intake, looks, watch };
  const work = new Work(options, parts, { stop, beginning, rule });
  const readiness = plan.readiness
    ? workOnReadiness({ ...options, orgId, outcomes, tally, stop, ledger, planned })
    : undefined;
  const workOff = async () => {
    do {
      await pullAll(work, options.concurrency);
      await writer.idle();
      // A claim that was lost on the way leaves something to do; so may what a range left unclear, or a worker that died.
    } while (
      !stop.signal.aborted &&
      (!schedule.isEmpty || (await work.lookAgain()) || (await claims.awaitOthers(stop.signal)))
    );
  };
  await workOff();
  if (!stop.signal.aborted) {
    schedule.add(watch.older);
    await lookAtModelSums({ source, warehouse, orgId, watch, outcomes, signal: stop.signal }, gauge.daysMax);
    await workOff();
  }
  if (!stop.signal.aborted) {
    const reopened = await watch.conclude(clock.now());
    const units = reopened.flatMap(({ day, streams }) =>
      streams.flatMap((stream) => (options.streams.includes(stream) ? [{ stream, day }] : [])),
    );
    tally.reopened = reopened.length;
    tally.planned += units.length;
    if (reopened.length > 0) observe({ type: 'days-reopened', days: reopened.map(({ day }) => day) });
    for (const unit of units) toPull.add(unitName(unit));
    schedule.add(units);
    await workOff();
    await rememberRange(options, gauge, orgId, today);
  }
  await readiness;
  for (const { day, users, active } of looks.short) {
    const message = `users ${day}: ${RULES['fewer-users']} (${users} of ${active}); it is pulled again until it has seven such nights`;
    observe({ type: 'warning', message, hint: undefined });
  }
  tally.doubted = ledger.all().filter((unit) => isDoubted(unit, request)).length;
  if (tally.quarantinedUnits.length > 0) tally.accepted = await acceptedUnits(warehouse, orgId);
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
