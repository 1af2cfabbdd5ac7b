import { USERS_LIMIT } from '../../contract/limits.ts';
import { shiftDay, type UtcDay } from '../../core/day.ts';
import { canonicalJson } from '../../core/json.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import { LOOKS, LOOKS_UNSTABLE } from '../../judge/looks.ts';
import { isUnstableUnit, type Noted, notesText, parseNotes } from '../../judge/notes.ts';
import {
  afterWatch,
  type Flapping,
  flappingAfter,
  isFlapping,
  lookAtRows,
  lookAtSums,
  type Mass,
  massAfter,
  parseFlapping,
  parseWatchState,
  planWatch,
  type Reopened,
  reopenedDays,
  type Seen,
  type Stretch,
  type StretchCost,
  type WatchPlan,
  type WatchState,
} from '../../judge/watch.ts';
import { noteUnits, reopenDays } from '../../warehouse/ledger.ts';
import {
  type DayUnit,
  type LedgerDay,
  type RunLock,
  type UnitNotes,
  unitName,
  type Warehouse,
} from '../../warehouse/port.ts';
import { readState, writeState } from '../../warehouse/runs.ts';
import type { PlanRequest } from '../plan.ts';
import type { KnownLedger } from './known-ledger.ts';
import { comparedDays, rowsPerDay } from './range-gauge.ts';

/** The streams whose answers are small: a few kilobytes a day. */
const LIGHT: readonly DailyStream[] = ['tools', 'activity', 'productivity'];
const HEAVY: readonly DailyStream[] = ['tokens', 'users'];
/** The name in `export_state` for the progress of the watch. Jobs over a part of the streams have progress of their own. */
function stateName({ streams }: Pick<PlanRequest, 'streams'>): string {
  const daily = DAILY_STREAMS.filter((stream) => streams.includes(stream));
  return daily.length === DAILY_STREAMS.length ? 'watch' : `watch ${daily.join(' ')}`;
}

export interface WatchOptions {
  readonly orgId: string;
  readonly warehouse: Warehouse;
  readonly lock: RunLock;
  readonly ledger: KnownLedger;
  readonly request: PlanRequest;
  /** The UTC day on which the run began. */
  readonly today: UtcDay;
  /** 0 turns the watch off. */
  readonly watchDays: number;
  /** Equal looks that every change needs, see {@link looksMinOf}. */
  readonly looksMin: number;
  /** Requests for older stretches. @default what compares all of history within a month */
  readonly watchRequests?: number | null;
  /** Days per request. */
  readonly rangeDays: number;
}

/** The comparison of a settled unit with the service. */
export interface Looked {
  readonly unit: LedgerDay;
  readonly by: Noted['by'];
  readonly seen: Seen;
  /** Digest of sums by model that can be compared only with the next answer. */
  readonly models?: string;
}

/**
 * The watch over settled units: chooses which ones a run compares with the service, and which it opens again. A settled
 * unit is opened only after looks on three days found the same difference; until then, all streams of its day are compared.
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #plan: WatchPlan | null;
  readonly #units: ReadonlyMap<string, LedgerDay>;
  readonly #looks: Looked[] = [];
  readonly #state: WatchState;
  /** Many settled days differ at once. Known when the watch has concluded. */
  mass: Mass | null = null;
  #isComplete = true;

  private constructor(options: WatchOptions, state: WatchState, plan: WatchPlan | null) {
    this.#options = options;
    this.#state = state;
    this.#plan = plan;
    this.mass = state.mass ?? null;
    const settled = options.ledger.days().filter((unit) => this.#isInScope(unit));
    this.#units = new Map(plan === null ? [] : settled.map((unit) => [unitName(unit), unit]));
  }

  /** Begins the watch of a run. It compares nothing if it is off or if another worker has it. */
  static async begin(options: WatchOptions): Promise<Watch> {
    const { warehouse, lock, orgId, request, today, watchDays } = options;
    // With force all units are pulled anyway.
    const isOff = watchDays <= 0 || request.force || !(await lock.claimWatch(orgId));
    const state = parseWatchState(await readState(warehouse, orgId, stateName(request)));
    const scope = { today, firstDay: request.firstDay, lastDay: shiftDay(today, -1), watchDays };
    const requests = options.watchRequests ?? null;
    const plan = isOff ? null : planWatch(state, { ...scope, cost: costOf(options), requests });
    return new Watch(options, state, plan);
  }

  /** Settled units to compare along with the planned ones: recent ones, and all of days on which something differs. */
  get recent(): DayUnit[] {
    const { recent, heavy } = this.#plan ?? {};
    const differing = new Set(
      [...this.#units.values()].flatMap(({ day, watch }) => (watch !== null && differs(watch) ? [day] : [])),
    );
    const streams = heavy === true ? [...LIGHT, ...HEAVY] : LIGHT;
    return this.#unitsWhere((unit) => {
      const isRecent = isWithin(unit.day, recent) && streams.some((stream) => stream === unit.stream);
      return isRecent || differing.has(unit.day);
    });
  }

  /** The heavy streams of which this run compares more than a day, so that their ranges may be longer. */
  get comparedStreams(): DailyStream[] {
    const compared = [...this.recent, ...this.older];
    return HEAVY.filter((stream) => compared.filter((unit) => unit.stream === stream).length > 1);
  }

  /** Settled units of older stretches, to compare after all others. */
  get older(): DayUnit[] {
    const recent = new Set(this.recent.map(unitName));
    const { older = [] } = this.#plan ?? {};
    return this.#unitsWhere(
      (unit) =>
        !recent.has(unitName(unit)) &&
        older.some(
          (stretch) =>
            isWithin(unit.day, stretch) &&
            (stretch.isFull || LIGHT.some((stream) => stream === unit.stream)),
        ),
    );
  }

  /** The stretches of days whose sums by model are compared, and single days with a noted difference. */
  get modelDays(): { readonly days: readonly UtcDay[] }[] {
    const tokens = [...this.#units.values()].filter(({ stream }) => stream === 'tokens');
    const daysIn = (stretch: Stretch | null | undefined) =>
      tokens.flatMap(({ day }) => (isWithin(day, stretch) ? [day] : []));
    const noted = tokens.flatMap(({ day, watch }) => (parseNotes(watch).noted?.by === 'models' ? [day] : []));
    const stretches = [this.#plan?.recent, ...(this.#plan?.older ?? [])].map(daysIn);
    const covered = new Set(stretches.flat());
    return [...stretches, ...noted.filter((day) => !covered.has(day)).map((day) => [day])]
      .filter((days) => days.length > 0)
      .map((days) => ({ days: days.toSorted() }));
  }

  /** A unit that is only compared, as it was when the run began; undefined for one that is pulled. */
  settled(unit: DayUnit): LedgerDay | undefined {
    const held = this.#units.get(unitName(unit));
    // A unit that was opened again in this run is pulled like any other.
    return held !== undefined && this.#options.ledger.of(unit.stream, unit.day)?.settledAt !== null
      ? held
      : undefined;
  }

  /** Records a comparison. */
  recordLook(look: Looked): void {
    this.#looks.push(look);
  }

  /** A comparison failed: the next run compares the same stretch again. */
  recordFailure(): void {
    this.#isComplete = false;
  }

  /** Stores what the comparisons found, and opens the units again whose difference is confirmed. */
  async conclude(now: Date): Promise<readonly Reopened[]> {
    if (this.#plan === null) return [];
    const { warehouse, orgId, ledger, today } = this.#options;
    const { notes, confirmed, newly } = this.#judge(now);
    if (notes.length > 0) ledger.put(await noteUnits(warehouse, orgId, notes));
    const reopened = reopenedDays(confirmed);
    if (reopened.length > 0) ledger.put(await reopenDays(warehouse, orgId, reopened));
    const isOpen = [...this.#units.values()].some((unit) => this.#differsStill(unit));
    this.mass = massAfter(this.#state.mass, [...newly], { isOpen, today });
    await this.#remember();
    return reopened;
  }

  #differsStill({ stream, day }: LedgerDay): boolean {
    const unit = this.#options.ledger.of(stream, day);
    return unit?.settledAt !== null && parseNotes(unit?.watch ?? null).looks !== undefined;
  }

  #judge(now: Date): { notes: UnitNotes[]; confirmed: DayUnit[]; newly: ReadonlySet<UtcDay> } {
    const notes = new Map<string, UnitNotes>();
    const confirmed: DayUnit[] = [];
    const newly = new Set<UtcDay>();
    for (const { unit, by, seen, models } of this.#looks) {
      const { stream, day, contentSha256 } = unit;
      const known = notes.get(unitName({ stream, day }));
      const before = known === undefined ? unit.watch : known.watch;
      const rule = { stored: contentSha256, looksMin: this.#options.looksMin, now };
      const look =
        by === 'rows' ? lookAtRows(parseNotes(before), seen, rule) : lookAtSums(parseNotes(before), seen, now);
      // One changed day changes the counts over trailing days of a month, and somebody who leaves is gone from all days.
      const isFirst = by === 'rows' && parseNotes(before).looks === undefined && look.notes.looks !== undefined;
      if (isFirst && seen?.trailing !== true && seen?.leaver !== true) newly.add(day);
      const remembers = models !== undefined && (look.isConfirmed || look.notes.models === undefined);
      const watch = notesText(remembers ? { ...look.notes, models } : look.notes);
      if (watch !== before) notes.set(unitName({ stream, day }), { stream, day, contentSha256, watch });
      if (look.isConfirmed && by === 'rows') confirmed.push({ stream, day });
    }
    return { notes: [...notes.values()], confirmed, newly };
  }

  async #remember(): Promise<void> {
    const { warehouse, orgId, request, today } = this.#options;
    if (this.#plan === null) return;
    // A run over a part of the days does not move the watch on.
    if (request.lastDay < this.#plan.recent.last || request.firstDay > this.#plan.recent.first) return;
    const name = stateName(request);
    const before = parseWatchState(await readState(warehouse, orgId, name));
    // While nothing has settled, there is nothing to compare, so the older stretch stays.
    const plan = this.#units.size > 0 ? this.#plan : { ...this.#plan, older: [] };
    const looked = { today, isComplete: this.#isComplete, mass: this.mass };
    const text = canonicalJson(afterWatch(before, plan, looked));
    if (text !== canonicalJson(before)) await writeState(warehouse, orgId, name, text);
  }

  #isInScope({ stream, day, settledAt }: LedgerDay): boolean {
    const { streams, firstDay, lastDay } = this.#options.request;
    return settledAt !== null && streams.includes(stream) && day >= firstDay && day <= lastDay;
  }

  #unitsWhere(isMeant: (unit: LedgerDay) => boolean): DayUnit[] {
    return [...this.#units.values()].filter(isMeant).map(({ stream, day }) => ({ stream, day }));
  }
}

function isWithin(day: string, stretch: Stretch | null | undefined): boolean {
  return stretch !== null && stretch !== undefined && day >= stretch.first && day <= stretch.last;
}

/** Recent days whose size predicts that of others. */
const SIZED_UNITS = 31;
/** Distinct users of a stretch, for each user of its busiest day: not everybody is active every day. */
const USERS_PER_DAILY_USER = 1.5;

/** The requests that a stretch costs, from what the ledger says of the latest days. */
function costOf({ ledger, watchDays, rangeDays }: Pick<WatchOptions, 'ledger' | 'watchDays' | 'rangeDays'>): StretchCost {
  const newest = ledger.days().toSorted((a, b) => (a.day < b.day ? 1 : -1));
  const active = newest.filter(({ stream }) => stream === 'users').slice(0, SIZED_UNITS);
  const users = Math.max(0, ...active.map(({ activeUsers }) => activeUsers ?? 0)) * USERS_PER_DAILY_USER;
  const ranges = Math.ceil(watchDays / Math.max(1, rangeDays));
  const pages = Math.max(1, Math.ceil(users / USERS_LIMIT.max));
  const tokenDays = comparedDays(rowsPerDay(ledger.all()).get('tokens') ?? 0, rangeDays);
  const tokens = Math.ceil(watchDays / tokenDays);
  return { light: (LIGHT.length + 1) * ranges, heavy: ranges * pages + tokens };
}

/** True for notes of a settled unit that differs from the service, or did lately. */
function differs(watch: string): boolean {
  const { looks, noted } = parseNotes(watch);
  return looks !== undefined || noted !== undefined;
}

/** The name in `export_state` for whether the service alternates. */
const FLAPPING = 'flapping';

/** Whether the service alternates between answers, as the last run left it. */
export async function readFlapping(warehouse: Pick<Warehouse, 'select'>, orgId: string): Promise<Flapping | null> {
  return parseFlapping(await readState(warehouse, orgId, FLAPPING));
}

/** Equal looks that every change needs, if the service alternates or not. */
export function looksMinOf(flapping: Flapping | null, today: UtcDay): number {
  return flapping !== null && isFlapping(flapping, today) ? LOOKS_UNSTABLE : LOOKS;
}

/** Records at the end of a run whether the service alternates. */
export async function rememberFlapping(
  { warehouse, orgId, ledger, today }: Pick<WatchOptions, 'warehouse' | 'orgId' | 'ledger' | 'today'>,
  before: Flapping | null,
): Promise<Flapping | null> {
  const unstable = new Set(ledger.days().flatMap((unit) => (isUnstableUnit(unit) ? [unit.day] : [])));
  const after = flappingAfter(before, unstable.size, today);
  if (canonicalJson(after) !== canonicalJson(before))
    await writeState(warehouse, orgId, FLAPPING, canonicalJson(after));
  return after;
}
