import type { Clock } from '../../core/clock.ts';
import { dayOf, type UtcDay } from '../../core/day.ts';
import {
  adviceOf,
  DaywalkError,
  DefectError,
  messageOf,
  RequestsSpentError,
  UnitError,
} from '../../core/errors.ts';
import type { Stream } from '../../core/stream.ts';
import { BadRequestError, CredentialError } from '../../http/index.ts';
import type { SettleRule } from '../../judge/agreement.ts';
import { doubtText, type StandingDoubt } from '../../judge/doubt.ts';
import { doubtUnit, failUnit } from '../../ledger/index.ts';
import type { Warehouse } from '../../port/index.ts';
import {
  type CommitOutcome,
  type DayCommit,
  dayKey,
  type LedgerUnit,
  readinessKey,
  rowCount,
  type UnitKey,
  type UnitName,
  unitName,
} from '../../units/index.ts';
import type { RunObserver } from '../events.ts';
import type { DayBatch } from '../plan.ts';
import { CLAIM_WAIT_MS, minutesOf, namesOf } from './claim-wait.ts';
import type { KnownLedger } from './known-ledger.ts';
import type { DoneUnit, RunCounts } from './run-counts.ts';

interface OutcomesOptions {
  readonly orgId: string;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly observe: RunObserver;
  readonly counts: RunCounts;
  /** Aborted when the run must end. */
  readonly stop: AbortController;
  readonly ledger: KnownLedger;
  readonly rule: SettleRule;
  /** The application host has a separate credential. */
  readonly hasAppKey: boolean;
  /** Names of the units that are only looked at again: they may be left to the next run. */
  readonly looks: ReadonlySet<string>;
}

/** Records the outcome of units: in the ledger, in the counts and as events. Decides whether the run continues. */
export class Outcomes {
  readonly #options: OutcomesOptions;
  readonly #breaker = createCircuitBreaker();
  readonly #leftOut = new Map<Stream, number>();
  /** Analytics have answered in this run, so the main credential works. */
  #analyticsAnswered = false;
  /** The error because of which no request begins any more. Requests in flight may still succeed. */
  #spent: RequestsSpentError | undefined;

  constructor(options: OutcomesOptions) {
    this.#options = options;
  }

  /** True if the stream is given up. The units of the batch then count as left out. */
  isGivenUp({ stream, days }: DayBatch): boolean {
    if (this.#spent !== undefined) return true;
    const isOpen = this.#breaker.isOpen(stream);
    if (isOpen) this.#leftOut.set(stream, (this.#leftOut.get(stream) ?? 0) + days.length);
    return isOpen;
  }

  /** No request was left for units. They do not change; units in flight have the requests that they need. */
  recordSpent(error: RequestsSpentError): void {
    this.#spent ??= error;
  }

  /** The service answered for a stream. */
  recordAnswer(stream: Stream): void {
    this.#analyticsAnswered ||= stream !== 'readiness';
    this.#breaker.recordSuccess(stream);
  }

  /** The service did not answer for a range; its days are requested one by one. */
  recordNoAnswer(stream: Stream, error: unknown): void {
    this.#breaker.recordFailure(stream, error);
  }

  /** A day was committed. */
  recordCommit(commit: DayCommit, outcome: CommitOutcome, warnings: readonly string[]): void {
    const { stream, day, requests, quarantined } = commit;
    const { counts, ledger } = this.#options;
    counts.addRows(outcome.rowsWritten);
    ledger.put(outcome.units);
    for (const unit of outcome.units) counts.setState(unitName(unit), unit.state);
    this.recordDone(
      { stream, day },
      {
        state: ledger.of(stream, day)?.state ?? commit.state,
        rows: rowCount(commit),
        requests,
        quarantined: quarantined.length,
        warnings,
        rowsWritten: outcome.rowsWritten,
        restated: outcome.restated,
      },
    );
  }

  /** An answer is doubted: the ledger records that and stores nothing of the answer. */
  async recordDoubt(commit: DayCommit, { since, ...doubt }: StandingDoubt): Promise<void> {
    const { warehouse, clock, observe, counts, stop, ledger, rule } = this.#options;
    const { orgId, stream, day, requests, contentSha256 } = commit;
    const unit = dayKey(orgId, commit);
    try {
      const pull = { contentSha256, requests, pulledAt: clock.now(), rule };
      const entry = { unit, doubt: doubtText(doubt), since, ...pull };
      ledger.put([await doubtUnit(warehouse, entry)]);
    } catch (storage) {
      stop.abort(storage);
      return;
    }
    counts.recordDone(unitName(unit), { state: 'doubted', restated: false, quarantined: 0 });
    observe({ type: 'unit-doubted', stream, day, rule: doubt.rule, rows: doubt.rows, of: doubt.of, since });
  }

  /** A comparison of settled units failed. Their ledger rows stay, but the run counts the failure. */
  recordFailedLook(stream: Stream, thrown: unknown): void {
    const { observe, counts, stop } = this.#options;
    if (stop.signal.aborted) return;
    const error = thrown instanceof DaywalkError ? thrown : new DefectError(`watch ${stream}`, thrown);
    if (error instanceof RequestsSpentError) {
      this.#spent ??= error;
      return;
    }
    if (error.effect === 'run') {
      stop.abort(error);
      return;
    }
    this.#breaker.recordFailure(stream, error);
    counts.recordNoAnswer(stream, error);
    observe({
      type: 'warning',
      message: `settled days were not compared: ${error.message}`,
      ...adviceOf(error),
    });
  }

  /** A unit is committed or unchanged. */
  recordDone(
    unit: UnitName,
    ended: DoneUnit & { rows: number; rowsWritten: number; requests: number; warnings: readonly string[] },
  ): void {
    const { observe, counts } = this.#options;
    const { state, rows, rowsWritten, requests, restated, quarantined } = ended;
    counts.recordDone(unitName(unit), ended);
    observe({ type: 'unit-done', ...unit, state, rows, rowsWritten, requests, restated, quarantined });
    for (const message of ended.warnings) observe({ type: 'warning', message, hint: undefined });
  }

  /** Another worker has committed a unit of the plan. */
  recordOtherWorker(unit: LedgerUnit): void {
    const { state } = unit;
    this.#options.counts.recordOtherWorker(unitName(unit));
    this.#options.observe({ type: 'unit-elsewhere', ...bareName(unit), state });
  }

  /** Emits a warning that does not count as a failure. */
  warn(message: string, hint: string): void {
    this.#options.observe({ type: 'warning', message, hint });
  }

  /** Units are left out because another worker has held them without progress for too long. */
  leaveHeldUnits(units: readonly UnitKey[]): void {
    const [first] = units;
    if (first === undefined) return;
    const error = new UnitError(
      `another worker has held ${namesOf(units)} for ${minutesOf(CLAIM_WAIT_MS)} without progress`,
      { hint: 'end that worker, or its session on the server, then run again: it resumes' },
    );
    this.#options.counts.addProblem(error, { kind: `held ${first.stream}`, units: units.length });
    this.#options.observe({ type: 'warning', message: error.message, ...adviceOf(error) });
  }

  /** A unit failed: the ledger records the failure, unless it ends the run. */
  async recordFailure(unit: UnitName, requests: number, thrown: unknown): Promise<void> {
    const { warehouse, clock, observe, counts, stop, orgId, rule } = this.#options;
    const { stream } = unit;
    // After an abort the unit stays as it was, and the next run pulls it.
    if (stop.signal.aborted) return;
    const error = thrown instanceof DaywalkError ? thrown : new DefectError(unitName(unit), thrown);
    if (error instanceof RequestsSpentError) {
      // The unit does not change. Units in flight have the requests that they need.
      this.#spent ??= error;
      return;
    }
    if (error.effect === 'run' && !this.#isReadinessDenied(stream, error)) {
      stop.abort(error);
      return;
    }
    this.#breaker.recordFailure(stream, error);
    const skewed = unit.stream !== 'readiness' && isTooEarly(error, unit.day);
    const state = skewed ? 'awaiting' : 'failed';
    const key = unit.stream === 'readiness' ? readinessKey(orgId) : dayKey(orgId, unit);
    const failure = { unit: key, state, error: messageOf(error), requests, rule } as const;
    try {
      await failUnit(warehouse, { ...failure, pulledAt: clock.now() });
    } catch (storage) {
      stop.abort(storage);
      return;
    }
    if (skewed) {
      counts.recordDone(unitName(unit), { state, restated: false, quarantined: 0 });
      const hint = "this machine's clock is ahead of the service's; the day is pulled again in the next run";
      observe({ type: 'warning', message: messageOf(error), hint });
    } else {
      counts.recordFailure(unitName(unit), stream, error);
      observe({ type: 'unit-failed', ...unit, state, error: messageOf(error), ...adviceOf(error) });
    }
  }

  /**
   * True if the readiness reports are refused, but analytics may still be readable: with 403, with a separate credential, or
   * after analytics have answered. The specification does not say which role readiness needs, so the run then continues
   * without the reports.
   */
  #isReadinessDenied(stream: Stream, error: DaywalkError): boolean {
    if (stream !== 'readiness' || !(error instanceof CredentialError)) return false;
    return error.status === 403 || this.#options.hasAppKey || this.#analyticsAnswered;
  }

  /** The names of the looks for which no request was left; null if there were enough requests. */
  get unasked(): readonly string[] | null {
    return this.#spent === undefined ? null : this.#options.counts.undone(this.#options.looks);
  }

  /**
   * Warns of the streams that were given up. A run that spent its requests before the last looks and comparisons is complete.
   * @throws {RequestsSpentError} if other units were left out because no request was left.
   */
  reportLeftOut(): void {
    const { counts } = this.#options;
    for (const [stream, units] of this.#leftOut) {
      const error = new UnitError(`${stream}: ${units} units were left out after several failures in a row`, {
        hint: 'the service seems to be down; run again later, it resumes there',
      });
      counts.addProblem(error, { kind: `left out ${stream}`, units });
      this.#options.observe({ type: 'warning', message: error.message, ...adviceOf(error) });
    }
    if (this.#spent === undefined) return;
    counts.leaveOut(this.#options.looks);
    if (counts.leftOut > 0) throw this.#spent;
    this.warn(this.#spent.message, 'what is new is stored; the next run compares the rest');
  }
}

/** True for the refusal of a day that is not over by the service's clock. */
function isTooEarly(error: DaywalkError, day: UtcDay): boolean {
  return error instanceof BadRequestError && error.serverDate !== undefined && dayOf(error.serverDate) <= day;
}

/** After this many consecutive failures, each after all its attempts, the run gives up a stream. */
const STREAM_FAILURES_MAX = 5;
/** After this many consecutive failures over all streams, the service counts as down. */
const RUN_FAILURES_MAX = 8;

/** Stops requests to a stream, or to the whole service, that keeps failing. */
interface CircuitBreaker {
  /** True if the units of the stream must be left out. */
  isOpen(stream: Stream): boolean;
  recordSuccess(stream: Stream): void;
  recordFailure(stream: Stream, error: unknown): void;
}

/**
 * A breaker that counts failures of the service. A 400 and a defect of this program do not count: they say nothing
 * about the next unit.
 */
export function createCircuitBreaker(): CircuitBreaker {
  const inRow = new Map<Stream, number>();
  let allInRow = 0;
  return {
    isOpen: (stream) => allInRow >= RUN_FAILURES_MAX || (inRow.get(stream) ?? 0) >= STREAM_FAILURES_MAX,
    recordSuccess: (stream) => {
      inRow.set(stream, 0);
      allInRow = 0;
    },
    recordFailure: (stream, error) => {
      if (error instanceof BadRequestError || error instanceof DefectError) return;
      inRow.set(stream, (inRow.get(stream) ?? 0) + 1);
      // The service has answered other requests meanwhile.
      const isAlone = error instanceof Error && 'isAlone' in error && error.isAlone === true;
      if (!isAlone) allInRow += 1;
    },
  };
}

/** The name of a unit, without its other fields. */
function bareName(unit: UnitName): UnitName {
  return unit.stream === 'readiness' ? { stream: unit.stream } : { stream: unit.stream, day: unit.day };
}
