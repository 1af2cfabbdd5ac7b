import { isDay, shiftDay, type UtcDay } from '../../core/day.ts';
import { canonicalJson } from '../../core/json.ts';
import type { DailyStream } from '../../core/stream.ts';
import { type Contract, isExpected, isKept } from '../../expected/index.ts';
import type { CountedIdentity } from '../../judge/identities.ts';
import { type Mass, massAfter } from '../../judge/mass.ts';
import { parseNotes } from '../../judge/notes.ts';
import {
  differs,
  isWaived,
  judgeLooks,
  type Looked,
  type Reopened,
  reopenedDays,
  sortChanges,
  withBreaks,
} from '../../judge/watch.ts';
import {
  afterWatch,
  type Chase,
  chaseAfter,
  type LeftOut,
  leftBefore,
  leftOutAfter,
  parseWatchState,
  planWatch,
  type Stretch,
  WATCH,
  type WatchPlan,
  type WatchState,
  watchesOf,
  watchName,
  withNamed,
} from '../../judge/watch-plan.ts';
import { noteUnits, reopenDays } from '../../ledger/index.ts';
import type { RunLock, Warehouse } from '../../port/index.ts';
import { readStates, writeState } from '../../records/index.ts';
import { type DayUnit, type LedgerDay, unitName } from '../../units/index.ts';
import type { PlanRequest } from '../plan.ts';
import type { KnownLedger } from './known-ledger.ts';
import { HEAVY, LIGHT, watchCost } from './range-gauge.ts';

interface WatchOptions {
  readonly orgId: string;
  readonly warehouse: Warehouse;
  readonly lock: RunLock;
  readonly ledger: KnownLedger;
  readonly request: PlanRequest;
  readonly contract: Contract;
  /** The UTC day on which the run began. */
  readonly today: UtcDay;
  /** 0 turns the watch off: only days of which something differs are compared, until that is decided. */
  readonly watchDays: number;
  /** Requests for older stretches. @default a 31st of the pages of users of all history, at least 12 */
  readonly watchRequests?: number | null;
  /** Days per request. */
  readonly rangeDays: number;
  /** Equal looks that every change needs, see {@link looksMinOf}. */
  readonly looksMin: number;
  readonly identities: readonly CountedIdentity[];
}

/**
 * The watch over settled units: chooses which ones a run compares with the service, and which it opens again. A settled
 * unit is opened only after looks on three days found the same difference; until then, all streams of its day are compared.
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #isOff: boolean;
  /** Null if only days that differ are compared. */
  readonly #plan: WatchPlan | null;
  readonly #state: WatchState;
  readonly #units: ReadonlyMap<string, LedgerDay>;
  readonly #looks: Looked[] = [];
  /** Days of which a page of users differs. */
  readonly #suspects = new Set<UtcDay>();
  readonly #failed = new Set<string>();
  readonly #leavers: string[] = [];
  readonly #cursors: Record<string, string>;
  #isComplete = true;
  /** Many settled days differ at once, also according to this run once the watch has concluded. */
  mass: Mass | null;

  private constructor(options: WatchOptions, state: WatchState, plan: WatchPlan | null | 'off') {
    this.#options = options;
    this.#state = state;
    this.#isOff = plan === 'off';
    this.#plan = plan === 'off' ? null : plan;
    this.#cursors = { ...state.cursors };
    this.mass = state.mass ?? null;
    const settled = options.ledger.days().filter((unit) => this.#isInScope(unit));
    const differing = new Set(settled.flatMap((unit) => (differs(unit) ? [unit.day] : [])));
    const units = settled.filter(({ day }) => plan !== null || differing.has(day));
    this.#units = new Map(this.#isOff ? [] : units.map((unit) => [unitName(unit), unit]));
  }

  /** Begins the watch of a run. It compares nothing with `--force`, or if another worker has it. */
  static async begin(options: WatchOptions): Promise<Watch> {
    const { warehouse, lock, orgId, request, today, watchDays } = options;
    // With force all units are pulled anyway.
    const isOff = request.force || !(await lock.claimWatch(orgId));
    const { firstDay } = request;
    const { own } = watchesOf(await readStates(warehouse, orgId, WATCH), scopeOf(options));
    const days = { today, firstDay, lastDay: shiftDay(today, -1), watchDays };
    const cost = { cost: watchCost(options), requests: options.watchRequests ?? null };
    return new Watch(options, own, isOff ? 'off' : planWatch(own, { ...days, ...cost }));
  }

  /** Settled units to compare along with the planned ones: recent ones, and all of days on which something differs. */
  get recent(): DayUnit[] {
    const { recent, heavy, walks } = this.#plan ?? {};
    const differing = new Set([...this.#units.values()].flatMap((unit) => (differs(unit) ? [unit.day] : [])));
    const isListed = (stream: DailyStream) =>
      LIGHT.includes(stream) || (heavy === true && !(walks === true && stream === 'users'));
    return this.#unitsWhere((unit) => {
      const isRecent = isWithin(unit.day, recent) && isListed(unit.stream);
      // During a mass, all of history is compared in ranges, which days that are asked for before it would tear apart.
      const isInHistory = this.#state.mass !== undefined && this.#isOlder(unit);
      return isRecent || (differing.has(unit.day) && !isInHistory);
    });
  }

  /** The heavy streams of which this run compares more than a day, so that their ranges may be longer. */
  get comparedStreams(): DailyStream[] {
    const compared = [...this.recent, ...this.older];
    const isWalked = (stream: DailyStream) => stream === 'users' && this.walked.length > 0;
    return HEAVY.filter(
      (stream) => isWalked(stream) || compared.filter((unit) => unit.stream === stream).length > 1,
    );
  }

  /** Settled units of older stretches, to compare after all others. */
  get older(): DayUnit[] {
    const recent = new Set(this.recent.map(unitName));
    return this.#unitsWhere((unit) => this.#isOlder(unit) && !recent.has(unitName(unit)));
  }

  #isOlder({ stream, day }: DayUnit): boolean {
    const { older = [], walksFull } = this.#plan ?? {};
    const isListed = LIGHT.includes(stream) || !(walksFull && stream === 'users');
    return older.some((each) => isWithin(day, each) && (each.isFull ? isListed : LIGHT.includes(stream)));
  }

  /**
   * The stretches of which a page of users is compared, with the cursor where it begins, and their settled days. Where users
   * seem to have left, also of the recent days.
   */
  get samples(): readonly Sample[] {
    const { recent, walks, sampled = [] } = this.#plan ?? {};
    const chased = this.#state.chase?.cursors ?? [];
    return [...(recent && walks !== true ? [recent] : []), ...sampled].flatMap((stretch) => {
      const days = this.#daysOfUsers(stretch);
      if (days.length === 0) return [];
      const page = { name: stretch.first, days, cursor: this.#cursors[stretch.first], isInTurn: true };
      const others = chased.map((cursor) => ({ ...page, cursor, isInTurn: false }));
      return stretch === recent ? others : [page, ...others];
    });
  }

  /** The settled days of which all pages of users are compared, by stretches. */
  get walked(): readonly (readonly UtcDay[])[] {
    const { walks, walksFull, recent, older = [] } = this.#plan ?? {};
    const stretches = [
      ...(walks === true && recent !== undefined ? [recent] : []),
      ...(walksFull === true ? older.filter(({ isFull }) => isFull) : []),
    ];
    return stretches.map((stretch) => this.#daysOfUsers(stretch)).filter((days) => days.length > 0);
  }

  #daysOfUsers(stretch: Stretch): UtcDay[] {
    const recent = new Set(this.recent.map(unitName));
    return this.#unitsWhere(
      (unit) => unit.stream === 'users' && isWithin(unit.day, stretch) && !recent.has(unitName(unit)),
    ).map(({ day }) => day);
  }

  /** Records which days of a page of users differ, and where the next page begins; undefined for page 1. */
  recordSample({ name, isInTurn }: Sample, differing: readonly UtcDay[], next: string | undefined): void {
    this.suspect(differing);
    if (!isInTurn) return;
    if (next === undefined) delete this.#cursors[name];
    else this.#cursors[name] = next;
  }

  /** Records that users have probably left a day that is not settled: the user before the first of them. */
  recordLeavers(before: string): void {
    this.#leavers.push(before);
  }

  /** Records days on which users differ: they are compared in all streams. */
  suspect(differing: Iterable<UtcDay>): void {
    for (const day of differing) this.#suspects.add(day);
  }

  /** The other settled units of days on which this run has seen a difference, so that all streams are seen equally often. */
  others(now: Date): DayUnit[] {
    const differing = new Set([
      ...[...this.#suspects].filter((day) => !this.#isRefuted(day, now)),
      ...this.#looks.flatMap(({ unit, seen }) =>
        seen === null || isWaived(parseNotes(unit.watch), seen, now) ? [] : [unit.day],
      ),
    ]);
    const compared = new Set(this.#looks.flatMap(({ unit, by }) => (by === 'rows' ? [unitName(unit)] : [])));
    return this.#unitsWhere(
      (unit) => differing.has(unit.day) && !compared.has(unitName(unit)) && this.settled(unit) !== undefined,
    );
  }

  /** The stretches whose sums by model are compared, and single days with a noted difference. */
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

  /** A comparison of some units failed: the next run compares the same stretch again. */
  recordFailure(units: readonly DayUnit[] = []): void {
    this.#isComplete = false;
    for (const unit of units) this.#failed.add(unitName(unit));
  }

  /**
   * Stores what the comparisons found, and opens the units again whose difference is confirmed.
   * @param unasked names of other units for which no request was left; null if there were enough requests.
   */
  async conclude(now: Date, unasked: readonly string[] | null): Promise<readonly Reopened[]> {
    if (this.#isOff) return [];
    const { warehouse, orgId, ledger, today, looksMin, identities } = this.#options;
    const { notes, confirmed, newly } = judgeLooks(this.#looks, { looksMin, now });
    const { ready, waiting } = sortChanges(confirmed, (day) => ledger.onDay(day), identities);
    const noted = notes.map((each) => withBreaks(each, waiting));
    if (noted.length > 0) ledger.put(await noteUnits(warehouse, orgId, noted));
    const reopened = reopenedDays(ready);
    if (reopened.length > 0) ledger.put(await reopenDays(warehouse, orgId, reopened));
    const isOpen = ledger.days().some((unit) => this.#isLookedAt(unit));
    this.mass = massAfter(this.#state.mass, newly, { isOpen, today });
    await this.#remember(unasked);
    return reopened;
  }

  /** The day's own answer has refuted a difference of its users not long ago. */
  #isRefuted(day: UtcDay, now: Date): boolean {
    const unit = this.#units.get(unitName({ stream: 'users', day }));
    const notes = parseNotes(unit?.watch ?? null);
    return isWaived(notes, { sha256: notes.reopenedFor ?? '' }, now);
  }

  async #remember(unasked: readonly string[] | null): Promise<void> {
    const { warehouse, orgId, request, today } = this.#options;
    const states = await readStates(warehouse, orgId, WATCH);
    const { own: before, covered } = watchesOf(states, scopeOf(this.#options));
    // While nothing has settled, nothing is compared, so the older stretch stays.
    const plan = this.#units.size > 0 ? this.#plan : this.#plan && { ...this.#plan, older: [], credit: 0 };
    const { mass } = this;
    const isPart = this.#isPart();
    const kept = (state: WatchState) => leftBefore(state.leftOut, request, this.#options.contract);
    const left = isPart ? before.leftOut : (kept(before) ?? this.#leftOut(unasked));
    const seen = { isComplete: this.#isComplete, mass, cursors: this.#cursorsOfNow(), chase: this.#chase() };
    const after =
      isPart || plan === null
        ? withNamed(before, mass, left)
        : afterWatch(before, plan, { today, ...seen, leftOut: left });
    const ended = (state: WatchState) => withNamed(state, null, kept(state));
    const others = isPart ? [] : [...covered].map(([name, state]) => [name, ended(state)] as const);
    for (const [name, state] of [[watchName(request.streams), after] as const, ...others]) {
      const text = canonicalJson(state);
      const stored = states.get(name) ?? canonicalJson(parseWatchState(null, today));
      if (text !== stored) await writeState(warehouse, orgId, name, text);
    }
  }

  /** True for a run over a part of the expected days: it does not move the watch on. */
  #isPart(): boolean {
    const { request, contract, today } = this.#options;
    const { firstDay, lastDay } = request;
    const isWhole = firstDay <= contract.firstDay || firstDay <= (this.#plan?.recent.first ?? '');
    return !isWhole || lastDay < shiftDay(today, -1);
  }

  /** What the run had no requests for: looks, and comparisons of settled units. */
  #leftOut(unasked: readonly string[] | null): LeftOut | undefined {
    if (unasked === null) return undefined;
    const days = [...unasked, ...this.#failed].map((name) => name.split(' ')[1]).filter(isDay);
    return leftOutAfter(this.#state.leftOut, days, this.#options.today);
  }

  #chase(): Chase | null {
    const found = this.#looks.flatMap(({ unit, seen }) =>
      seen?.leaver === undefined || parseNotes(unit.watch).looks !== undefined ? [] : [seen.leaver],
    );
    return chaseAfter(this.#state.chase, [...this.#leavers, ...found], this.#options.today);
  }

  /** The cursors of stretches that still exist: a run with another first day divides history otherwise. */
  #cursorsOfNow(): Record<string, string> {
    const { older = [], sampled = [] } = this.#plan ?? {};
    const names = new Set<string>([...older, ...sampled].map(({ first }) => first));
    return Object.fromEntries(Object.entries(this.#cursors).filter(([name]) => names.has(name)));
  }

  /** Looks at a settled unit that is asked for have found a difference, which is not decided. */
  #isLookedAt(unit: LedgerDay): boolean {
    const { request, contract } = this.#options;
    if (!request.streams.includes(unit.stream) || !isExpected(unit, contract)) return false;
    return unit.settledAt !== null && parseNotes(unit.watch).looks !== undefined;
  }

  #isInScope({ stream, day, state, settledAt }: LedgerDay): boolean {
    const { streams, firstDay, lastDay } = this.#options.request;
    if (state === 'expired' || !isKept(this.#options.request, stream, day)) return false;
    return settledAt !== null && streams.includes(stream) && day >= firstDay && day <= lastDay;
  }

  #unitsWhere(isMeant: (unit: LedgerDay) => boolean): DayUnit[] {
    return [...this.#units.values()].filter(isMeant).map(({ stream, day }) => ({ stream, day }));
  }
}

/** Of which streams and when the watch is. */
function scopeOf({ request, contract, today }: WatchOptions) {
  return { streams: request.streams, expected: contract.streams, today };
}

function isWithin(day: string, stretch: Stretch | null | undefined): boolean {
  return stretch !== null && stretch !== undefined && day >= stretch.first && day <= stretch.last;
}

/** A page of users that a run compares with the stored ones. */
export interface Sample {
  /** The first day of its stretch. */
  readonly name: UtcDay;
  /** The settled days of the stretch. */
  readonly days: readonly UtcDay[];
  /** Where the page begins. @default page 1 */
  readonly cursor: string | undefined;
  /** False for a page that is compared because users seem to have left. */
  readonly isInTurn: boolean;
}
