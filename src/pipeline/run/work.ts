import { BadRequestError, CredentialError } from '../../api/http/errors.ts';
import type { AnalyticsPage } from '../../api/pages.ts';
import type { Clock } from '../../core/clock.ts';
import { dayOf, type UtcDay } from '../../core/day.ts';
import { DaywalkError, DefectError, messageOf, UnitError } from '../../core/errors.ts';
import type { Stream } from '../../core/stream.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import { dayCommit } from '../commit.ts';
import type { RunObserver } from '../events.ts';
import type { DayUnit } from '../plan.ts';
import type { Privacy } from '../privacy.ts';
import type { PullCall, Source } from '../pull.ts';
import { createBreaker } from './breaker.ts';
import { type DayContext, prepareDay } from './day-unit.ts';
import type { Identity } from './identify.ts';
import { walkReadiness } from './readiness-unit.ts';
import type { DoneUnit, Tally } from './tally.ts';

/** What the work on units needs. */
export interface WorkOptions {
  readonly source: Source;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly privacy: Privacy;
  readonly settleDays: number;
  readonly force: boolean;
  readonly observe: RunObserver;
}

/** A call whose requests are counted from zero. */
function newCall(signal: AbortSignal): PullCall {
  return { signal, meter: { requests: 0, retries: 0 } };
}

/** The units of one run at work: each ends committed, failed on record, or untouched. */
export class Work {
  readonly #options: WorkOptions;
  readonly #tally: Tally;
  readonly #stop: AbortController;
  readonly #context: DayContext;
  readonly #today: UtcDay;
  readonly #breaker = createBreaker();
  readonly #leftOut = new Map<Stream, number>();
  #prefetched: Identity | undefined;

  constructor(options: WorkOptions, tally: Tally, stop: AbortController, identity: Identity) {
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
    const day = await prepareDay(this.#context, unit, call, this.#takePrefetched(unit, call));
    const commit = dayCommit(day, { today: this.#today, settleDays: this.#options.settleDays }, clock.now());
    const outcome = await warehouse.commitDay({ ...commit, rewrite: this.#options.force });
    const rows = commit.tables.reduce((sum, part) => sum + part.rows.length, 0);
    const { warnings, quarantined } = day.findings;
    const done = {
      state: commit.state,
      quarantined: quarantined.length,
      requests: commit.requests,
      rows,
      warnings,
    };
    this.#tally.wrote(outcome.rowsWritten);
    this.#done(unit.stream, unit.day, { ...done, ...outcome });
  }

  #takePrefetched(unit: DayUnit, call: PullCall): AnalyticsPage | undefined {
    const held = this.#prefetched;
    if (held === undefined || held.unit.stream !== unit.stream || held.unit.day !== unit.day)
      return undefined;
    this.#prefetched = undefined;
    // Pages pulled hours apart would be of two states of the day.
    if (held.page.meta.has_more === true) return undefined;
    call.meter.requests += held.requests;
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

  async #failed(stream: Stream, day: UtcDay | '', call: PullCall, thrown: unknown): Promise<void> {
    // An abort is not the unit's failure: it stays as it was, and the next run pulls it.
    if (this.#stop.signal.aborted) return;
    const error =
      thrown instanceof DaywalkError ? thrown : new DefectError(`${stream} ${day}`.trim(), thrown);
    if (error.effect === 'run' && !isReadinessDenied(stream, error)) {
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

/**
 * True when the key that analytics accepts may not read the readiness reports: which role they need is not documented,
 * and the analytics are worth having without them.
 */
function isReadinessDenied(stream: Stream, error: DaywalkError): boolean {
  return stream === 'readiness' && error instanceof CredentialError && error.status === 403;
}

/** True for the refusal of a day that is not over yet by the service's own clock. */
function isTooEarly(error: DaywalkError, day: UtcDay): boolean {
  return error instanceof BadRequestError && error.serverDate !== undefined && dayOf(error.serverDate) <= day;
}
