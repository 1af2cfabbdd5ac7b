import { shiftDay, type UtcDay } from '../../core/day.ts';
import { canonicalJson } from '../../core/json.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import { type Noted, notesText, parseNotes } from '../../judge/notes.ts';
import {
  afterWatch,
  isWaived,
  lookAtRows,
  lookAtSums,
  parseWatchState,
  planWatch,
  type Reopened,
  reopenedDays,
  type Seen,
  type Stretch,
  type WatchPlan,
} from '../../judge/watch.ts';
import { noteUnits, reopenDays, type UnitNotes } from '../../ledger/index.ts';
import type { RunLock, Warehouse } from '../../port/index.ts';
import { readState, writeState } from '../../records/index.ts';
import { type DayUnit, type LedgerDay, unitName } from '../../units/index.ts';
import type { PlanRequest } from '../plan.ts';
import type { KnownLedger } from './known-ledger.ts';

/** The streams whose answers are small: a few kilobytes a day. */
const LIGHT: readonly DailyStream[] = ['tools', 'activity', 'productivity'];
const HEAVY: readonly DailyStream[] = ['tokens', 'users'];
/** The name in `export_state` for the progress of the watch. Jobs over a part of the streams have progress of their own. */
function stateName({ streams }: Pick<PlanRequest, 'streams'>): string {
  const daily = DAILY_STREAMS.filter((stream) => streams.includes(stream));
  return daily.length === DAILY_STREAMS.length ? 'watch' : `watch ${daily.join(' ')}`;
}

interface WatchOptions {
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
  #isComplete = true;

  private constructor(options: WatchOptions, plan: WatchPlan | null) {
    this.#options = options;
    this.#plan = plan;
    const settled = options.ledger.days().filter((unit) => this.#isInScope(unit));
    this.#units = new Map(plan === null ? [] : settled.map((unit) => [unitName(unit), unit]));
  }

  /** Begins the watch of a run. It compares nothing if it is off or if another worker has it. */
  static async begin(options: WatchOptions): Promise<Watch> {
    const { warehouse, lock, orgId, request, today, watchDays } = options;
    // With force all units are pulled anyway.
    const isOff = watchDays <= 0 || request.force || !(await lock.claimWatch(orgId));
    const state = parseWatchState(isOff ? null : await readState(warehouse, orgId, stateName(request)));
    return new Watch(
      options,
      isOff
        ? null
        : planWatch(state, { today, firstDay: request.firstDay, lastDay: shiftDay(today, -1), watchDays }),
    );
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

  /** True if this run compares the users of recent days. */
  get comparesUsers(): boolean {
    return this.recent.filter(({ stream }) => stream === 'users').length > 1;
  }

  /** Settled units of the older stretch, to compare after all others. */
  get older(): DayUnit[] {
    const recent = new Set(this.recent.map(unitName));
    return this.#unitsWhere(
      (unit) =>
        isWithin(unit.day, this.#older) &&
        LIGHT.some((stream) => stream === unit.stream) &&
        !recent.has(unitName(unit)),
    );
  }

  /** The other settled units of days on which this run has seen a difference, so that all streams are seen equally often. */
  others(now: Date): DayUnit[] {
    const differing = new Set(
      this.#looks.flatMap(({ unit, seen }) =>
        seen === null || isWaived(parseNotes(unit.watch), seen, now) ? [] : [unit.day],
      ),
    );
    const compared = new Set(this.#looks.flatMap(({ unit, by }) => (by === 'rows' ? [unitName(unit)] : [])));
    return this.#unitsWhere(
      (unit) => differing.has(unit.day) && !compared.has(unitName(unit)) && this.settled(unit) !== undefined,
    );
  }

  /** The stretches of days whose sums by model are compared, and single days with a noted difference. */
  get modelDays(): { readonly days: readonly UtcDay[] }[] {
    const tokens = [...this.#units.values()].filter(({ stream }) => stream === 'tokens');
    const daysIn = (stretch: Stretch | null | undefined) =>
      tokens.flatMap(({ day }) => (isWithin(day, stretch) ? [day] : []));
    const noted = tokens.flatMap(({ day, watch }) => (parseNotes(watch).noted?.by === 'models' ? [day] : []));
    const stretches = [daysIn(this.#plan?.recent), daysIn(this.#older)];
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
    const { warehouse, orgId, ledger } = this.#options;
    const { notes, confirmed } = this.#judge(now);
    if (notes.length > 0) ledger.put(await noteUnits(warehouse, orgId, notes));
    const reopened = reopenedDays(confirmed);
    if (reopened.length > 0) ledger.put(await reopenDays(warehouse, orgId, reopened));
    await this.#remember();
    return reopened;
  }

  #judge(now: Date): { notes: UnitNotes[]; confirmed: DayUnit[] } {
    const notes = new Map<string, UnitNotes>();
    const confirmed: DayUnit[] = [];
    for (const { unit, by, seen, models } of this.#looks) {
      const { stream, day, contentSha256 } = unit;
      const known = notes.get(unitName({ stream, day }));
      const before = known === undefined ? unit.watch : known.watch;
      const rule = { stored: contentSha256, looksMin: this.#options.looksMin, now };
      const look =
        by === 'rows'
          ? lookAtRows(parseNotes(before), seen, rule)
          : lookAtSums(parseNotes(before), seen, now);
      const remembers = models !== undefined && (look.isConfirmed || look.notes.models === undefined);
      const watch = notesText(remembers ? { ...look.notes, models } : look.notes);
      if (watch !== before) notes.set(unitName({ stream, day }), { stream, day, contentSha256, watch });
      if (look.isConfirmed && by === 'rows') confirmed.push({ stream, day });
    }
    return { notes: [...notes.values()], confirmed };
  }

  async #remember(): Promise<void> {
    const { warehouse, orgId, request, today } = this.#options;
    if (this.#plan === null) return;
    // A run over a part of the days does not move the watch on.
    if (request.lastDay < this.#plan.recent.last || request.firstDay > this.#plan.recent.first) return;
    const name = stateName(request);
    const before = parseWatchState(await readState(warehouse, orgId, name));
    // The first run has just pulled everything, so the older stretch stays.
    const older = this.#units.size > 0 ? this.#older : null;
    const looked = { today, isComplete: this.#isComplete };
    const text = canonicalJson(afterWatch(before, { older, heavy: this.#plan.heavy }, looked));
    if (text !== canonicalJson(before)) await writeState(warehouse, orgId, name, text);
  }

  get #older(): Stretch | null {
    return this.#plan?.older ?? null;
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

/** True for notes of a settled unit that differs from the service, or did lately. */
function differs(watch: string): boolean {
  const { looks, noted } = parseNotes(watch);
  return looks !== undefined || noted !== undefined;
}
