import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { BadRequestError } from '../../api/http/errors.ts';
import type { AnalyticsPage } from '../../api/pages.ts';
import type { Clock } from '../../core/clock.ts';
import { dayOf, type UtcDay } from '../../core/day.ts';
import { DaywalkError, messageOf, UnitError } from '../../core/errors.ts';
import type { Stream } from '../../core/stream.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { dayCommit } from '../commit.ts';
import type { RunObserver, RunReport } from '../events.ts';
import { type DayUnit, type PlanRequest, planUnits } from '../plan.ts';
import type { Privacy } from '../privacy.ts';
import type { PullCall, Source } from '../pull.ts';
import { createBreaker } from './breaker.ts';
import { type DayContext, prepareDay } from './day-unit.ts';
import { type Identity, identify } from './identify.ts';
import { walkReadiness } from './readiness-unit.ts';
import { type DoneUnit, Tally } from './tally.ts';

/** What a run needs. The warehouse must be locked by the caller. */
export interface RunOptions extends PlanRequest {
  readonly command: string;
  readonly source: Source;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly privacy: Privacy;
  /** Units in flight at most. */
  readonly concurrency: number;
  readonly settleDays: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly observe: RunObserver;
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

async function recordEnd({ warehouse, clock }: RunOptions, report: RunReport): Promise<void> {
  const { runId, orgId, exitCode, unitsDone, unitsFailed, rowsWritten, requests, retries } = report;
  const end = { runId, orgId, exitCode, unitsDone, unitsFailed, rowsWritten, requests, retries };
  try {
    await warehouse.endRun({ ...end, endedAt: clock.now() });
  } catch (error) {
    // A storage failure that ended the run is in the report already; this would only repeat it.
    if (exitCode === 0) throw error;
  }
}

async function walk(options: RunOptions, tally: Tally): Promise<void> {
  // One reason to stop, of whatever kind, reaches every request in flight.
  const stop = new AbortController();
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
  const identity = await identify(source, options, newCall(stop.signal));
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

function newCall(signal: AbortSignal): PullCall {
  return { signal, meter: { requests: 0, retries: 0 } };
}

/** The units of one run at work. */
class Work {
  readonly #options: RunOptions;
  readonly #tally: Tally;
  readonly #stop: AbortController;
  readonly #context: DayContext;
  readonly #today: UtcDay;
  readonly #breaker = createBreaker();
  readonly #leftOut = new Map<Stream, number>();
  #prefetched: Identity | undefined;

  constructor(options: RunOptions, tally: Tally, stop: AbortController, identity: Identity) {
    this.#options = options;
    this.#tally = tally;
    this.#stop = stop;
    this.#prefetched = identity;
    this.#context = { source: options.source, orgId: identity.orgId, privacy: options.privacy };
    // Fixed for the whole run, also when it crosses midnight.
    this.#today = dayOf(options.clock.now());
  }

  async day(unit: DayUnit): Promise<void> {
    if (this.#stop.signal.aborted) return;
    if (this.#breaker.isOpen(unit.stream)) {
      this.#leftOut.set(unit.stream, (this.#leftOut.get(unit.stream) ?? 0) + 1);
      return;
    }
    const call = newCall(this.#stop.signal);
    try {
      await this.#pullAndCommit(unit, call);
      this.#breaker.succeeded(unit.stream);
    } catch (error) {
      await this.#failed(unit.stream, unit.day, call, error);
    }
  }

  async readiness(): Promise<void> {
    const { warehouse, clock, force, observe } = this.#options;
    const call = newCall(this.#stop.signal);
    let rowsTold = 0;
    const onPage = (page: { reports: number; rowsWritten: number }) => {
      // A page is stored for good, whatever becomes of the walk.
      rowsTold += page.rowsWritten;
      this.#tally.wrote(page.rowsWritten);
      observe({ type: 'readiness-page', ...page });
    };
    try {
      const outcome = await walkReadiness({ ...this.#context, warehouse, clock, force, onPage }, call);
      const unit = await warehouse.readinessUnit(this.#context.orgId);
      this.#tally.wrote(outcome.rowsWritten - rowsTold);
      this.#done('readiness', '', { ...outcome, state: unit?.state ?? 'loaded', rows: unit?.rows ?? 0 });
      this.#breaker.succeeded('readiness');
    } catch (error) {
      await this.#failed('readiness', '', call, error);
    }
  }

  /** Tells which streams were given up. */
  reportLeftOut(): void {
    for (const [stream, units] of this.#leftOut) {
      const error = new UnitError(`${stream}: ${units} units were left out after several failures in a row`, {
        hint: 'the service seems to be down; run again later, it resumes there',
      });
      this.#tally.problem(error, { kind: `left out ${stream}`, units });
      this.#options.observe({ type: 'warning', message: error.message, hint: error.hint });
    }
  }

  async #pullAndCommit(unit: DayUnit, call: PullCall): Promise<void> {
    const { warehouse, clock } = this.#options;
    const day = await prepareDay(this.#context, unit, call, this.#takePrefetched(unit));
    const commit = dayCommit(day, { today: this.#today, settleDays: this.#options.settleDays }, clock.now());
    const outcome = await warehouse.commitDay(commit);
    const rows = commit.tables.reduce((sum, part) => sum + part.rows.length, 0);
    const { warnings, quarantined } = day.findings;
    const done = { state: commit.state, quarantined: quarantined.length, requests: commit.requests, rows, warnings };
    this.#tally.wrote(outcome.rowsWritten);
    this.#done(unit.stream, unit.day, { ...done, ...outcome });
  }

  #takePrefetched(unit: DayUnit): AnalyticsPage | undefined {
    const held = this.#prefetched;
    if (held === undefined || held.unit.stream !== unit.stream || held.unit.day !== unit.day) return undefined;
    this.#prefetched = undefined;
    return held.page;
  }

  #done(
    stream: Stream,
    day: UtcDay | '',
    unit: DoneUnit & { rows: number; rowsWritten: number; requests: number; warnings: readonly string[] },
  ): void {
    const { observe } = this.#options;
    const { state, rows, rowsWritten, requests, restated, quarantined } = unit;
    this.#tally.done(unit);
    observe({ type: 'unit-done', stream, day, state, rows, rowsWritten, requests, restated, quarantined });
    for (const message of unit.warnings) observe({ type: 'warning', message, hint: undefined });
  }

  async #failed(stream: Stream, day: UtcDay | '', call: PullCall, error: unknown): Promise<void> {
    // An abort is not the unit's failure: it stays as it was, and the next run pulls it.
    if (this.#stop.signal.aborted) return;
    if (!(error instanceof DaywalkError) || error.effect === 'run') {
      this.#stop.abort(error);
      return;
    }
    this.#breaker.failed(stream, error);
    const skewed = day !== '' && isTooEarly(error, day);
    const state = skewed ? 'awaiting' : 'failed';
    const { warehouse, clock, observe } = this.#options;
    const failure = { orgId: this.#context.orgId, stream, day, state, error: messageOf(error) } as const;
    try {
      await warehouse.failUnit({ ...failure, requests: call.meter.requests, pulledAt: clock.now() });
    } catch (storage) {
      this.#stop.abort(storage);
      return;
    }
    if (skewed) {
      this.#tally.done({ state, restated: false, quarantined: 0 });
      const hint = "this machine's clock is ahead of the service's; the day is pulled again in the next run";
      observe({ type: 'warning', message: messageOf(error), hint });
    } else {
      this.#tally.failed(stream, error);
      observe({ type: 'unit-failed', stream, day, state, error: messageOf(error), hint: error.hint });
    }
  }
}

/** True for the refusal of a day that is not over yet by the service's own clock. */
function isTooEarly(error: DaywalkError, day: UtcDay): boolean {
  return error instanceof BadRequestError && error.serverDate !== undefined && dayOf(error.serverDate) <= day;
}
