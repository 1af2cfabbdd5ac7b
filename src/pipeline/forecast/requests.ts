import { READINESS_LIMIT, USERS_LIMIT } from '../../api/limits.ts';
import { shiftDay, type UtcDay } from '../../core/day.ts';
import { type DailyStream, isDailyStream } from '../../core/stream.ts';
import { parseNotes } from '../../judge/notes.ts';
import { CONFIRMING } from '../../judge/second-look.ts';
import {
  type DayUnit,
  type LedgerUnit,
  type RunLock,
  type UnitState,
  unitName,
  type Warehouse,
} from '../../warehouse/port.ts';
import { batchesOf, type DayBatch } from '../batch.ts';
import { type Plan, type PlanRequest, planUnits } from '../plan.ts';
import { CLAIMED_UNITS } from '../run/claims/claimed-batches.ts';
import { KnownLedger } from '../run/known-ledger.ts';
import { firstPass, parseWalkState } from '../run/readiness/walk-state.ts';
import { type LongestRange, RangeGauge, rowsPerDay } from '../run/schedule/range-gauge.ts';
import { Schedule } from '../run/schedule/schedule.ts';
import { Watch } from '../run/watch/watch.ts';

/** Assumed rows per day of a stream without stored rows. They only decide when ranges become shorter. */
const ROWS_UNKNOWN = 50;
/** Assumed pages of readiness reports before the first walk: one with reports, and the empty one that ends the walk. */
const READINESS_UNKNOWN = 2;

/** The facts from which a forecast is made. */
export interface ForecastFacts {
  readonly request: PlanRequest;
  readonly today: UtcDay;
  /** The ledger of the organization; empty if no run has pulled it. */
  readonly ledger: readonly LedgerUnit[];
  /** Longest range that an earlier run learned. */
  readonly remembered: LongestRange | null;
  readonly rangeDays: number;
  readonly concurrency: number;
  /** The units and days that the watch compares; null without a watch. */
  readonly watch: Pick<Watch, 'recent' | 'older' | 'comparesUsers' | 'modelDays' | 'settled'> | null;
  /** Estimates the number of distinct users on these days from the stored ones; 0 if none are stored. */
  usersOn(days: readonly UtcDay[]): number;
  /** The settings name the organization, so no request is needed to find it. */
  readonly isNamed: boolean;
  /** Number of stored readiness reports. */
  readonly reports: number;
}

/** The requests that a run is expected to send, and what it plans. */
export interface RequestForecast {
  readonly plan: Plan;
  readonly requests: number;
}

/**
 * Forecasts the requests of a run that finds the service unchanged. It simulates the schedule, ranges and watch of a run.
 * It does not count retries, or second requests for days whose answers turn out to be unclear.
 */
export function forecastRequests(facts: ForecastFacts): RequestForecast {
  const { request, ledger, watch } = facts;
  const plan = planUnits(request, ledger);
  const simulation = new Simulation(facts, plan);
  const requests =
    simulation.countPlanned(watch?.recent ?? []) +
    simulation.countOlder(watch?.older ?? []) +
    simulation.countModelSums(watch?.modelDays ?? []) +
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
    if (watch?.comparesUsers === true) this.#gauge.expectComparisons('users');
    const isWatched = (unit: DayUnit) => watch?.settled(unit) !== undefined;
    this.#schedule = new Schedule(plan.units, { newestFirst: request.newestFirst, isWatched });
    const [stream] = request.streams.filter(isDailyStream);
    this.#first = stream === undefined ? undefined : { stream, day: request.lastDay };
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
    const batches: DayBatch[] = [];
    for (let units = 0; units < CLAIMED_UNITS; units += batches.at(-1)?.days.length ?? 0) {
      const batch = this.#schedule.take((stream) => this.#gauge.daysFor(stream));
      if (batch === undefined) break;
      batches.push(batch);
    }
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

/** Begins a watch that shows what a run would compare now. Claims nothing and writes nothing. */
export function watchOf(options: {
  readonly orgId: string;
  readonly warehouse: Warehouse;
  readonly ledger: readonly LedgerUnit[];
  readonly request: PlanRequest;
  readonly today: UtcDay;
  readonly watchDays: number;
}): Promise<Watch> {
  const lock: RunLock = {
    claim: async () => [],
    claimWatch: async () => true,
    free: async () => undefined,
    release: async () => undefined,
  };
  return Watch.begin({ ...options, lock, ledger: new KnownLedger(options.ledger) });
}

/** Stored days before the planned ones whose users are likely to be active on days that are not stored yet. */
export const USERS_KNOWN_DAYS = 7;

/**
 * Counts distinct users. For days that are not stored, it uses the same number of days back from the newest stored one, at
 * most {@link USERS_KNOWN_DAYS}.
 */
export function userCounter(usersByDay: ReadonlyMap<UtcDay, readonly number[]>): ForecastFacts['usersOn'] {
  const newest = [...usersByDay.keys()].toSorted().at(-1);
  return (days) => {
    const users = new Set<number>();
    let missing = 0;
    for (const day of days) {
      const stored = usersByDay.get(day);
      if (stored === undefined) missing += 1;
      for (const user of stored ?? []) users.add(user);
    }
    if (newest === undefined || missing === 0) return users.size;
    const likely = Array.from({ length: Math.min(missing, USERS_KNOWN_DAYS) }, (_, back) =>
      shiftDay(newest, -back),
    );
    for (const day of likely) for (const user of usersByDay.get(day) ?? []) users.add(user);
    return users.size;
  };
}
