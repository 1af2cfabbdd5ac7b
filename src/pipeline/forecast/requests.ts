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
import { KnownLedger } from '../run/known-ledger.ts';
import { firstPass, parseWalkState } from '../run/readiness/walk-state.ts';
import { type LongestRange, RangeGauge, rowsPerDay } from '../run/schedule/range-gauge.ts';
import { Schedule } from '../run/schedule/schedule.ts';
import { Watch } from '../run/watch/watch.ts';

/** Units that a worker claims at a time, as `work.ts` does. */
const CLAIMED_UNITS = 16;
/** Rows of a day where nothing is stored yet; they only decide when ranges become shorter. */
const ROWS_UNKNOWN = 50;
/** Pages of readiness reports where nothing is known: one with reports, and the empty one that ends the walk. */
const READINESS_UNKNOWN = 2;

/** What a forecast is made from. */
export interface ForecastFacts {
  readonly request: PlanRequest;
  readonly today: UtcDay;
  /** The ledger of the organization; empty where nothing is known. */
  readonly ledger: readonly LedgerUnit[];
  /** Longest range that an earlier run learned. */
  readonly remembered: LongestRange | null;
  readonly rangeDays: number;
  readonly concurrency: number;
  /** What the watch looks at; null where there is none. */
  readonly watch: Pick<Watch, 'recent' | 'older' | 'comparesUsers' | 'modelDays' | 'settled'> | null;
  /** Different users on these days, as far as they are stored; 0 where none are known. */
  usersOn(days: readonly UtcDay[]): number;
  /** The organization is named, so that nothing has to be asked to learn it. */
  readonly isNamed: boolean;
  /** Readiness reports that are stored. */
  readonly reports: number;
}

/** The requests that a run is expected to send, and what it plans. */
export interface RequestForecast {
  readonly plan: Plan;
  readonly requests: number;
}

/**
 * The requests that a run will send if the service answers as it did: a rehearsal of the run's own schedule, ranges and watch.
 * Repetitions of failed requests are not in it, nor days that an answer makes worth a second look.
 */
export function forecastRequests(facts: ForecastFacts): RequestForecast {
  const { request, ledger, watch } = facts;
  const plan = planUnits(request, ledger);
  const rehearsal = new Rehearsal(facts, plan);
  const requests =
    rehearsal.walk(watch?.recent ?? []) +
    rehearsal.later(watch?.older ?? []) +
    rehearsal.sums(watch?.modelDays ?? []) +
    secondLooks(plan, facts) +
    (plan.readiness ? readinessPages(facts) : 0);
  return { plan, requests };
}

/** Batches as a run takes them, several in flight, answered in the order in which they were sent. */
class Rehearsal {
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

  /** What is planned, and the recent settled days that go along. */
  walk(recent: readonly DayUnit[]): number {
    this.#schedule.add(recent);
    const { isNamed } = this.#facts;
    const first = this.#first;
    // Without analytics in the plan the organization is still asked for once.
    if (first === undefined) return isNamed ? 0 : 1;
    const isPlanned = this.#schedule.moveToFront(first);
    const again = isPlanned && this.#requestsOf({ stream: first.stream, days: [first.day] }) === 1 ? 1 : 0;
    // The first page of the newest day tells whose the key is, and is not asked for again where it is all of the day.
    return 1 - again + this.#workOff();
  }

  later(units: readonly DayUnit[]): number {
    this.#schedule.add(units);
    return this.#workOff();
  }

  sums(stretches: readonly { readonly days: readonly UtcDay[] }[]): number {
    return stretches.reduce(
      (sum, { days }) => sum + batchesOf('tokens', days, this.#gauge.daysMax).length,
      0,
    );
  }

  #workOff(): number {
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
 * What had nothing is likely to have nothing once more, which a range alone does not prove, see `secondLook`: where other
 * streams have the day, each that lacks it is asked for it alone; where none has, one is asked for it with its neighbours.
 */
function secondLooks(plan: Plan, { ledger, request, rangeDays }: ForecastFacts): number {
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
    // The newest day is asked for alone in any case.
    if (stream !== undefined && day !== request.lastDay)
      confirming.set(stream, [...(confirming.get(stream) ?? []), day]);
  }
  return [...confirming].reduce(
    (sum, [stream, days]) => sum + batchesOf(stream, days, rangeDays).length,
    alone,
  );
}

const ACTIVE: readonly UnitState[] = ['loaded', 'quarantined', 'doubted'];

/** True where a unit has nothing, and no answer of the day's own has said so yet. */
function isUnclear({ state, watch, contentSha256 }: LedgerUnit): boolean {
  return (state === 'awaiting' || state === 'empty') && parseNotes(watch).own !== contentSha256;
}

function readinessPages({ ledger, request, today, reports }: ForecastFacts): number {
  const unit = ledger.find(({ stream }) => stream === 'readiness');
  if (unit === undefined) return READINESS_UNKNOWN;
  const last = parseWalkState(unit.cursor);
  const quarantined = unit.state === 'quarantined' || unit.doubt !== null;
  const { pass, limit } = firstPass(last, { today, force: request.force, quarantined });
  if (reports === 0) return 1;
  // It ends at the first report that is known, hardly ever beyond the first page.
  if (pass === 'head') return 1;
  return Math.ceil(reports / (limit ?? READINESS_LIMIT)) + 1;
}

/** What the watch of a run would look at now; nothing is claimed and nothing is written. */
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

/** Days before the planned ones that are looked at for users who may be active on days not stored yet. */
export const USERS_KNOWN_DAYS = 7;

/** Counts different users: on days that are not stored, those of as many days before are taken for likely. */
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
