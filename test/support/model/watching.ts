import { FIRST_DAY, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { canonicalJson } from '../../../src/core/json.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { areLeavers } from '../../../src/judge/doubt.ts';
import { looksMinOf, parseFlapping } from '../../../src/judge/flapping.ts';
import type { CountedIdentity } from '../../../src/judge/identities.ts';
import { type Mass, massAfter } from '../../../src/judge/mass.ts';
import { parseNotes } from '../../../src/judge/notes.ts';
import { differs, isWaived, judgeLooks, type Looked, withBreaks } from '../../../src/judge/watch.ts';
import {
  parseWatchState,
  type Stretch,
  type WatchCost,
  type WatchPlan,
  type WatchState,
} from '../../../src/judge/watch-plan.ts';
import type { DayUnit, LedgerDay } from '../../../src/units/unit.ts';
import { type Content, digestOf, isActive } from './content.ts';
import type { Nightly } from './nightly.ts';
import type { Rules } from './rules.ts';
import { indexOf, type Run, stretchesOf } from './world.ts';

const LIGHT: readonly string[] = ['tools', 'activity', 'productivity'];
/** A stretch of few users, by ranges of its length. */
const COST: WatchCost = { light: 4, tokens: 1, users: 1, fullDays: 31, walksFull: false, recent: 2, walk: 2 };

/** The watch of one run, as `src/pipeline/run/watch.ts` and `watch-comparisons.ts` keep it. */
export class ModelWatch {
  readonly #model: Nightly;
  readonly #run: Run;
  readonly #today: UtcDay;
  readonly #plan: WatchPlan | null;
  readonly #units: ReadonlyMap<string, LedgerDay>;
  readonly #looks: Looked[] = [];
  readonly #state: WatchState;
  /** Days of which a page of users differs. */
  readonly #suspects = new Set<UtcDay>();
  /** Many settled days differ at once. */
  mass: Mass | null;
  #isComplete = true;
  #recent: DayUnit[] | undefined;

  readonly #identities: readonly CountedIdentity[];

  constructor(
    model: Nightly,
    run: Run,
    { today, identities }: { readonly today: UtcDay; readonly identities: readonly CountedIdentity[] },
  ) {
    this.#model = model;
    this.#run = run;
    this.#identities = identities;
    this.#today = today;
    const { memory, world, rules } = model;
    const state = parseWatchState(memory.watchState, today);
    this.#state = state;
    this.mass = state.mass ?? null;
    const range = {
      cost: COST,
      // In half of the worlds, one light stretch of older days is compared each night.
      requests: world.seed % 2 === 0 ? 0 : null,
      firstDay: FIRST_DAY,
      today,
      lastDay: shiftDay(today, -1),
      watchDays: world.watchDays,
    };
    this.#plan = run.force ? null : rules.planWatch(state, range);
    const settled = memory.ledger
      .days()
      .filter(({ settledAt, stream }) => settledAt !== null && run.streams.some((name) => name === stream));
    this.#units = new Map(this.#plan === null ? [] : settled.map((unit) => [nameOf(unit), unit]));
  }

  get recent(): DayUnit[] {
    this.#recent ??= this.#findRecent();
    return this.#recent;
  }

  #findRecent(): DayUnit[] {
    const { recent, heavy } = this.#plan ?? {};
    const differing = new Set([...this.#units.values()].flatMap((unit) => (differs(unit) ? [unit.day] : [])));
    return this.#unitsWhere(
      ({ stream, day }) =>
        (isWithin(day, recent) && (heavy === true || LIGHT.includes(stream))) || differing.has(day),
    );
  }

  get older(): DayUnit[] {
    const recent = new Set(this.recent.map(nameOf));
    const stretches = this.#plan?.older ?? [];
    return this.#unitsWhere(
      (unit) =>
        !recent.has(nameOf(unit)) &&
        stretches.some((own) => isWithin(unit.day, own) && (own.isFull || LIGHT.includes(unit.stream))),
    );
  }

  /** Compares the users of the other stretches. There are so few that a page has all of them. */
  lookAtPages(
    ask: (stream: DailyStream, days: readonly UtcDay[]) => ReadonlyMap<number, Content> | null,
  ): void {
    const recent = new Set(this.recent.map(nameOf));
    for (const stretch of this.#plan?.sampled ?? []) {
      const days = this.#unitsWhere(
        (unit) => unit.stream === 'users' && isWithin(unit.day, stretch) && !recent.has(nameOf(unit)),
      ).map(({ day }) => day);
      const [batch] = stretchesOf(days.toSorted(), this.#model.world.rangeMax);
      const answer = batch === undefined ? null : ask('users', batch);
      for (const day of answer === null ? [] : (batch ?? [])) {
        const seen = answer?.get(indexOf(day));
        if (seen !== undefined && seen.text !== this.#stored('users', day).text) this.#suspects.add(day);
      }
    }
  }

  /** The other units of days on which something differs. */
  others(now: Date): DayUnit[] {
    const notesOf = (day: UtcDay) =>
      parseNotes(this.#units.get(nameOf({ stream: 'users', day }))?.watch ?? null);
    const isRefuted = (day: UtcDay) =>
      isWaived(notesOf(day), { sha256: notesOf(day).reopenedFor ?? '' }, now);
    const differing = new Set([
      ...[...this.#suspects].filter((day) => !isRefuted(day)),
      ...this.#looks.flatMap(({ unit, seen }) =>
        seen === null || isWaived(parseNotes(unit.watch), seen, now) ? [] : [unit.day],
      ),
    ]);
    const compared = new Set(this.#looks.flatMap(({ unit, by }) => (by === 'rows' ? [nameOf(unit)] : [])));
    return this.#unitsWhere(
      (unit) => differing.has(unit.day) && !compared.has(nameOf(unit)) && this.settled(unit) !== undefined,
    );
  }

  settled(unit: DayUnit): LedgerDay | undefined {
    const held = this.#units.get(nameOf(unit));
    const isStill = this.#model.memory.ledger.of(unit.stream, unit.day)?.settledAt !== null;
    return held !== undefined && isStill ? held : undefined;
  }

  failed(): void {
    this.#isComplete = false;
  }

  look(unit: LedgerDay, content: Content): void {
    const hasTrailing = /[1-9]/.test(content.text);
    const isIdle = content.rows === 0 || (unit.rows === 0 && !hasTrailing);
    const isStillIdle = unit.state === 'empty' && !isActive(content) && isIdle;
    const isHeld = content.held !== undefined;
    const isSame =
      isHeld === (unit.state === 'quarantined') && (digestOf(content) === unit.contentSha256 || isStillIdle);
    const stored = unit.stream === 'activity' ? this.#stored(unit.stream, unit.day) : null;
    const minor = stored?.plain === content.plain ? ({ isMinor: true } as const) : {};
    const leaver = unit.stream === 'users' && this.#haveLeft(unit.day, content) ? { leaver: '' } : {};
    const { activeUsers, figures } = content;
    const sha256 = digestOf({ ...content, text: `${content.text}${content.held ?? ''}` });
    const seen = isSame ? null : ({ sha256, by: 'rows', activeUsers, figures, ...minor, ...leaver } as const);
    this.#looks.push({ unit, by: 'rows', seen });
  }

  /** True if a few users are gone, and the rows of the others are as they were. */
  #haveLeft(day: UtcDay, { text }: Content): boolean {
    const [stored, sent] = [this.#stored('users', day).text, text].map((rows) => new Set(rows.split(', ')));
    if (stored === undefined || sent === undefined) return false;
    const added = [...sent].filter((row) => !stored.has(row)).length;
    return areLeavers({ gone: stored.size - (sent.size - added), stored: stored.size, added });
  }

  #stored(stream: DailyStream, day: UtcDay): Content {
    return this.#model.memory.content(stream, day);
  }

  /** Compares the sums by model. */
  lookAtSums(
    ask: (stream: DailyStream, days: readonly UtcDay[]) => ReadonlyMap<number, Content> | null,
  ): void {
    const { world } = this.#model;
    if (world.sums === 'refused' || this.#plan === null) return;
    const tokens = this.#unitsWhere(({ stream }) => stream === 'tokens').map(({ day }) => day);
    const stretches = [this.#plan.recent, ...this.#plan.older].map((stretch) =>
      tokens.filter((day) => isWithin(day, stretch)),
    );
    const covered = new Set(stretches.flat());
    const noted = tokens.filter(
      (day) =>
        !covered.has(day) &&
        parseNotes(this.#units.get(nameOf({ stream: 'tokens', day }))?.watch ?? null).noted?.by === 'models',
    );
    const answers: { days: readonly UtcDay[]; answer: ReadonlyMap<number, Content> }[] = [];
    for (const days of [...stretches, ...noted.map((day) => [day])]) {
      for (const batch of stretchesOf(days.toSorted(), world.rangeMax)) {
        const answer = ask('tokens', batch);
        if (answer === null) this.#isComplete = false;
        else answers.push({ days: batch, answer });
      }
    }
    const sumsOf = (answer: ReadonlyMap<number, Content>, day: UtcDay) =>
      answer.get(indexOf(day))?.sums ?? new Map<string, number>();
    const areStored = answers.some(({ days, answer }) =>
      days.some((day) =>
        [...sumsOf(answer, day).keys()].some((name) => this.#stored('tokens', day).sums.has(name)),
      ),
    );
    for (const { days, answer } of answers)
      for (const day of days)
        this.#compareSums(day, sumsOf(answer, day), world.sums === 'by-model' && areStored);
  }

  #compareSums(day: UtcDay, sums: ReadonlyMap<string, number>, isComparable: boolean): void {
    const unit = this.settled({ stream: 'tokens', day });
    if (unit === undefined) return;
    const sha256 = textOf(sums);
    const { models } = parseNotes(unit.watch);
    const isSame = isComparable
      ? sha256 === textOf(this.#stored('tokens', day).sums)
      : models === undefined || models === sha256;
    const seen = isSame ? null : ({ sha256, by: 'models' } as const);
    this.#looks.push({ unit, by: 'models', seen, ...(isComparable ? {} : { models: sha256 }) });
  }

  conclude(rules: Rules, now: Date): { day: UtcDay; streams: readonly DailyStream[] }[] {
    if (this.#plan === null) return [];
    const { memory } = this.#model;
    const today = this.#today;
    const looksMin = looksMinOf(parseFlapping(memory.flapping, today), today);
    const { notes, confirmed, newly } = judgeLooks(this.#looks, { looksMin, now }, rules);
    const { ready, waiting } = rules.sortChanges(
      confirmed,
      (day) => memory.ledger.onDay(day),
      this.#identities,
    );
    if (notes.length > 0) memory.note(notes.map((each) => withBreaks(each, waiting)));
    const reopened = [...rules.reopenedDays(ready)];
    if (reopened.length > 0) memory.reopen(reopened);
    const isOpen = memory.ledger
      .days()
      .some(({ settledAt, watch }) => settledAt !== null && parseNotes(watch).looks !== undefined);
    this.mass = massAfter(this.#state.mass, newly, { isOpen, today });
    this.#remember();
    return reopened;
  }

  #remember(): void {
    const { memory, rules } = this.#model;
    if (this.#plan === null || !DAILY_STREAMS.every((stream) => this.#run.streams.includes(stream))) return;
    const plan = this.#units.size > 0 ? this.#plan : { ...this.#plan, older: [], credit: 0 };
    const looked = {
      today: this.#today,
      isComplete: this.#isComplete,
      mass: this.mass,
      cursors: {},
      chase: null,
    };
    const before = parseWatchState(memory.watchState, this.#today);
    memory.remember(canonicalJson(rules.afterWatch(before, plan, looked)));
  }

  #unitsWhere(isMeant: (unit: LedgerDay) => boolean): DayUnit[] {
    return [...this.#units.values()].filter(isMeant).map(({ stream, day }) => ({ stream, day }));
  }
}

function textOf(sums: ReadonlyMap<string, number>): string {
  return [...sums]
    .toSorted()
    .map(([model, tokens]) => `${model} ${tokens}`)
    .join(', ');
}

function isWithin(day: string, stretch: Stretch | null | undefined): boolean {
  return stretch !== null && stretch !== undefined && day >= stretch.first && day <= stretch.last;
}

function nameOf({ stream, day }: { readonly stream: string; readonly day: string }): string {
  return `${stream} ${day}`;
}
