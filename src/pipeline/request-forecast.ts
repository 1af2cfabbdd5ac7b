import { READINESS_LIMIT, USERS_LIMIT } from '../api/index.ts';
import type { UtcDay } from '../core/day.ts';
import { type DailyStream, isDailyStream } from '../core/stream.ts';
import { CONFIRMING } from '../judge/agreement.ts';
import { daysToCompare } from '../judge/foreign.ts';
import { parseNotes } from '../judge/notes.ts';
import type { RunRecord } from '../records/index.ts';
import { type DayUnit, type LedgerUnit, type UnitState, unitName } from '../units/index.ts';
import {
  batchesOf,
  type DayBatch,
  mostlyLooks,
  type Plan,
  type PlanRequest,
  type PlanTime,
  planUnits,
} from './plan.ts';
import { daysWithUsers } from './run/foreign.ts';
import { KnownLedger } from './run/known-ledger.ts';
import { allowedRange, type LongestRange, RangeGauge, rowsPerDay } from './run/range-gauge.ts';
import { firstPass, parseWalkState } from './run/readiness-cursor.ts';
import { Schedule } from './run/schedule.ts';
import type { Watch } from './run/watch.ts';
import { walkedRanges } from './run/watch-walk.ts';

/** Assumed rows per day of a stream without stored rows. They only decide when ranges become shorter. */
const ROWS_UNKNOWN = 50;
/** Assumed pages of readiness reports before the first walk: one with reports, and the empty one that ends the walk. */
const READINESS_UNKNOWN = 2;

/** The facts from which a forecast is made. */
export interface ForecastFacts extends PlanTime {
  readonly request: PlanRequest;
  readonly today: UtcDay;
  /** The ledger of the organization; empty if no run has pulled it. */
  readonly ledger: readonly LedgerUnit[];
  /** Longest range that an earlier run learned. */
  readonly remembered: LongestRange | null;
  readonly rangeDays: number;
  readonly concurrency: number;
  /** Only users of later days are compared before anything is stored; '' for all. */
  readonly comparedAfter: UtcDay | '';
  /** The units and days that the watch compares; null without a watch. */
  readonly watch: Pick<
    Watch,
    'recent' | 'older' | 'samples' | 'walked' | 'comparedStreams' | 'modelDays' | 'settled'
  > | null;
  /** Estimates the number of distinct users on these days from the stored ones; 0 if none are stored. */
  usersOn(days: readonly UtcDay[]): number;
  /** The settings name the organization, so no request is needed to find it. */
  readonly isNamed: boolean;
  /** Number of stored readiness reports. */
  readonly reports: number;
}

/** The requests that a run is expected to send, and what it plans. */
interface RequestForecast {
  readonly plan: Plan;
  readonly requests: number;
}

/**
 * Forecasts the requests of a run that finds the service unchanged. It simulates the schedule, ranges and watch of a run.
 * It does not count retries, or second requests for days whose answers turn out to be unclear.
 */
export function forecastRequests(facts: ForecastFacts): RequestForecast {
  const { request, ledger, watch } = facts;
  const plan = planUnits(request, ledger, facts);
  const simulation = new Simulation(facts, plan);
  const requests =
    simulation.countComparedUsers() +
    simulation.countPlanned(watch?.recent ?? []) +
    simulation.countOlder(watch?.older ?? []) +
    simulation.countModelSums(watch?.modelDays ?? []) +
    (watch?.samples.length ?? 0) +
    (watch?.walked ?? []).reduce((sum, days) => sum + simulation.countWalked(days), 0) +
    countSecondLooks(plan, facts) +
    (plan.readiness ? countReadinessPages(facts) : 0);
  return { plan, requests };
}

/** Simulates how a run takes batches: several are in flight, and they are answered in the order in which they were sent. */
class Simulation {
  readonly #facts: ForecastFacts;
  readonly #gauge: RangeGauge;
  readonly #rows: ReadonlyMap<DailyStream, number>;
  readonly #schedule: Schedule;
  readonly #first: DayUnit | undefined;

  constructor(facts: ForecastFacts, plan: Plan) {
    this.#facts = facts;
    const { request, ledger, rangeDays, remembered, watch } = facts;
    this.#rows = rowsPerDay(ledger);
    this.#gauge = new RangeGauge(rangeDays, this.#rows, remembered);
    const compared = [...(watch?.comparedStreams ?? []), ...mostlyLooks(plan)];
    for (const stream of compared) this.#gauge.expectComparisons(stream);
    const isCompared = (unit: DayUnit) =>
      watch?.settled(unit) !== undefined || plan.looks.has(unitName(unit));
    this.#schedule = new Schedule(plan.units, { newestFirst: request.newestFirst, isCompared });
    const [stream] = request.streams.filter(isDailyStream);
    this.#first = stream === undefined ? undefined : { stream, day: request.lastDay };
  }

  /** Counts the requests that compare users of stored days before the run stores anything. */
  countComparedUsers(): number {
    const { ledger, isNamed, rangeDays, remembered, comparedAfter } = this.#facts;
    if (isNamed && this.#first === undefined) return 0;
    const { range, alone } = daysToCompare(
      daysWithUsers(ledger).filter((day) => day > comparedAfter),
      allowedRange(rangeDays, remembered),
    );
    if (range.length > 0) return 1;
    const again = (day: UtcDay) =>
      this.#schedule.keepAlone({ stream: 'users', day }) && this.#facts.usersOn([day]) <= USERS_LIMIT.max;
    return alone.filter((day) => !again(day)).length;
  }

  /** Counts the requests for the planned units and for the recent settled ones that are compared with them. */
  countPlanned(recent: readonly DayUnit[]): number {
    this.#schedule.add(recent);
    const { isNamed } = this.#facts;
    const first = this.#first;
    // A plan without analytics still needs one request to find the organization.
    if (first === undefined) return isNamed ? 0 : 1;
    const isPlanned = this.#schedule.keepAlone(first);
    const again = isPlanned && this.#requestsOf({ stream: first.stream, days: [first.day] }) === 1 ? 1 : 0;
    // A run begins with a request for the first page of the newest day. If that is the only page, it is not requested again.
    return 1 - again + this.#countScheduled();
  }

  countOlder(units: readonly DayUnit[]): number {
    this.#schedule.add(units);
    return this.#countScheduled();
  }

  countWalked(days: readonly UtcDay[]): number {
    return walkedRanges(days, this.#gauge.daysMax).reduce((sum, batch) => sum + this.#requestsOf(batch), 0);
  }

  countModelSums(stretches: readonly { readonly days: readonly UtcDay[] }[]): number {
    return stretches.reduce(
      (sum, { days }) => sum + batchesOf('tokens', days, this.#gauge.daysMax).length,
      0,
    );
  }

  #countScheduled(): number {
    const claimed: DayBatch[] = [];
    const inFlight: DayBatch[] = [];
    let requests = 0;
    while (claimed.length > 0 || inFlight.length > 0 || !this.#schedule.isEmpty) {
      while (inFlight.length < this.#facts.concurrency) {
        if (claimed.length === 0) claimed.push(...this.#claim());
        const batch = claimed.shift();
        if (batch === undefined) break;
        requests += this.#requestsOf(batch);
        inFlight.push(batch);
      }
      const answered = inFlight.shift();
      if (answered === undefined) break;
      const { stream, days } = answered;
      const rows = (this.#rows.get(stream) ?? ROWS_UNKNOWN) * days.length;
      this.#gauge.recordAnswer(stream, { days: days.length, rows, ms: 0 });
    }
    return requests;
  }

  #claim(): DayBatch[] {
    const batches = this.#schedule.takeSome((stream) => this.#gauge.daysFor(stream));
    this.#gauge.recordTaken(Math.max(0, ...batches.map(({ days }) => days.length)));
    return batches;
  }

  #requestsOf({ stream, days }: DayBatch): number {
    return stream === 'users' ? Math.max(1, Math.ceil(this.#facts.usersOn(days) / USERS_LIMIT.max)) : 1;
  }
}

/**
 * Counts the second requests for units that had no activity before and probably have none now. A range does not prove
 * that, see `secondLook`. If another stream of the day has activity, each such unit is requested alone. Otherwise the day
 * is requested in one stream, together with its neighbours.
 */
function countSecondLooks(plan: Plan, { ledger, request, rangeDays }: ForecastFacts): number {
  if (rangeDays === 1) return 0;
  const held = new KnownLedger(ledger);
  const planned = new Set(plan.units.map(unitName));
  const confirming = new Map<DailyStream, UtcDay[]>();
  let alone = 0;
  for (const day of new Set(plan.units.map((unit) => unit.day))) {
    const units = held.onDay(day);
    const unclear = units
      .filter((unit) => isUnclear(unit) && planned.has(unitName(unit)))
      .map(({ stream }) => stream);
    if (units.some(({ state }) => ACTIVE.includes(state))) {
      alone += unclear.length;
      continue;
    }
    const stream = CONFIRMING.find((one) => unclear.includes(one));
    // The newest day is requested alone in any case.
    if (stream !== undefined && day !== request.lastDay)
      confirming.set(stream, [...(confirming.get(stream) ?? []), day]);
  }
  return [...confirming].reduce(
    (sum, [stream, days]) => sum + batchesOf(stream, days, rangeDays).length,
    alone,
  );
}

const ACTIVE: readonly UnitState[] = ['loaded', 'quarantined', 'doubted'];

/** True if a unit has no activity and no answer for the day alone has confirmed that yet. */
function isUnclear({ state, watch, contentSha256 }: LedgerUnit): boolean {
  return (state === 'awaiting' || state === 'empty') && parseNotes(watch).own !== contentSha256;
}

function countReadinessPages({ ledger, request, today, reports }: ForecastFacts): number {
  const unit = ledger.find(({ stream }) => stream === 'readiness');
  if (unit === undefined) return READINESS_UNKNOWN;
  const last = parseWalkState(unit.cursor);
  const quarantined = unit.state === 'quarantined' || unit.doubt !== null;
  const { pass, limit } = firstPass(last, { today, force: request.force, quarantined });
  if (reports === 0) return 1;
  // A head pass ends at the first known report, nearly always on the first page.
  if (pass === 'head') return 1;
  return Math.ceil(reports / (limit ?? READINESS_LIMIT)) + 1;
}

export interface DurationForecast {
  readonly durationMs: number;
  /** True while no run with a similar number of requests has ended. Then the duration may be wrong by several times. */
  readonly isEstimate: boolean;
}

/** Similar runs that the forecast averages over. */
const SIMILAR_RUNS = 3;
/** A run is similar if its number of requests differs by this factor at most. */
const SIMILAR_FACTOR = 2;

/**
 * Estimates how long a run with `requests` requests takes, from the pace of earlier runs. A nightly run with a dozen
 * requests needs more time per request than a first run that keeps eight in flight. So other runs count only if there is no
 * similar one.
 * @returns null if no earlier run ended after sending a request.
 */
export function forecastDuration(runs: readonly RunRecord[], requests: number): DurationForecast | null {
  const ended = runs.flatMap(({ startedAt, endedAt, requests: sent }) => {
    const ms = endedAt === null ? 0 : Date.parse(endedAt) - Date.parse(startedAt);
    return sent > 0 && ms > 0
      ? [{ sent, ms, distance: Math.abs(Math.log(sent / Math.max(1, requests))) }]
      : [];
  });
  const similar = ended.filter(({ distance }) => distance <= Math.log(SIMILAR_FACTOR));
  const nearest = (similar.length > 0 ? similar : ended)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SIMILAR_RUNS);
  const sent = nearest.reduce((sum, run) => sum + run.sent, 0);
  if (sent === 0) return null;
  const ms = nearest.reduce((sum, run) => sum + run.ms, 0);
  return { durationMs: Math.round((requests * ms) / sent), isEstimate: similar.length === 0 };
}
