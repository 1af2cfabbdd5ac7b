import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { isEmpty } from '../../../src/judge/agreement.ts';
import { hasWaited, violationsOf } from '../../../src/judge/identities.ts';
import { parseNotes } from '../../../src/judge/notes.ts';
import type { LedgerDay } from '../../../src/units/unit.ts';
import { sequence } from '../random/seed.ts';
import { type Content, isActive, isSame } from './content.ts';
import { Killed, Memory } from './memory.ts';
import { ModelRun } from './nightly.ts';
import { RULES, type Rules } from './rules.ts';
import { dayAt, indexOf, type Run, Truth, type World } from './world.ts';

/** Honest runs after which a difference in the light streams of the last month must have been corrected. */
const SOON = 8;
/** Nights on which runs must find a loss before it is accepted. */
const LOSS_NIGHTS = 3;

/** The life of a warehouse in a world, night by night. */
export class History {
  readonly faults: string[] = [];
  readonly #world: World;
  readonly #truth: Truth;
  readonly #memory: Memory;
  /** Units that were compared row by row in the honest nights. */
  readonly #watched = new Set<string>();

  /** @param options.untilFault ends the life with the night of the first fault. */
  constructor(world: World, rules: Rules = RULES, { untilFault = false } = {}) {
    this.#world = world;
    this.#truth = new Truth(world);
    this.#memory = new Memory(rules);
    const model = {
      world,
      truth: this.#truth,
      memory: this.#memory,
      rules,
      random: sequence(world.seed + 1),
    };
    for (const run of world.runs) {
      this.#memory.onReplaced = (unit, before, after) => this.#checkLoss(run, unit, before, after);
      const settled = this.#settledAndRight(run);
      const night = new ModelRun(model, run);
      if (run.night >= world.quietFrom) for (const unit of night.lookedAt) this.#watched.add(unit);
      try {
        night.perform();
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
      }
      this.#checkSettled(run, settled);
      this.#checkAgreement(run, night.identities);
      if (run.night === world.quietFrom + SOON) this.#checkSoon(run);
      if (untilFault && this.faults.length > 0) return;
    }
    this.#checkEnd();
  }

  /** Units of days that are settled with their true content in all streams, without any open difference. */
  #settledAndRight({ night, force }: Run): LedgerDay[] {
    if (force || !this.#world.lies.some((lie) => lie.firstNight <= night && night <= lie.lastNight))
      return [];
    return Array.from({ length: night }, (_, day) => {
      const units = DAILY_STREAMS.map((stream) => this.#memory.unit(stream, dayAt(day)));
      const areAll = DAILY_STREAMS.every(
        (stream, index) =>
          units[index]?.settledAt !== null &&
          isUndisturbed(units[index]) &&
          this.#isRight(stream, day, night),
      );
      return areAll ? units : [];
    }).flat();
  }

  /** A lying night changes no settled unit, unless the nights before it showed the same. */
  #checkSettled(run: Run, before: readonly LedgerDay[]): void {
    for (const { stream, day, contentSha256 } of before) {
      const after = this.#memory.unit(stream, day);
      if (after.settledAt === null || after.contentSha256 !== contentSha256)
        this.#fault(run.night, stream, indexOf(day), 'a single lying night changed what was settled');
    }
  }

  /** A confirmed unit never contradicts the stored units of its day when it settles. */
  #checkAgreement({ night, hour }: Run, identities: ModelRun['identities']): void {
    const began = `${dayAt(night)}T${String(hour).padStart(2, '0')}`;
    for (let day = 0; day < night; day += 1) {
      const units = DAILY_STREAMS.map((stream) => this.#memory.unit(stream, dayAt(day)));
      const isActiveDay = units.some(({ state }) => state !== 'pending' && !isEmpty({ state }));
      const odd = violationsOf(
        units,
        identities.filter(({ counts }) => counts),
      ).flatMap(({ streams }) => streams);
      for (const unit of units) {
        const { stream, confirmed } = unit;
        if (unit.settledAt === null || confirmed === 'age') continue;
        if (isEmpty(unit) && isActiveDay) this.#fault(night, stream, day, 'empty beside other streams');
        if (unit.settledAt.startsWith(began) && odd.includes(stream))
          this.#fault(night, stream, day, 'in contradiction with another stream');
      }
    }
  }

  /** Existing content is treated as gone only after several nights. */
  #checkLoss({ night, force, acceptLoss }: Run, unit: LedgerDay, before: Content, after: Content): void {
    const { stream, day } = unit;
    if (force || before.keys.length === 0) return;
    const gone = before.keys.filter((key) => !after.keys.includes(key)).length;
    const active = this.#memory.unit('activity', day).activeUsers ?? 0;
    const isShort = stream === 'users' && (after.activeUsers ?? 0) < active;
    if (gone < before.keys.length && !(gone > 0 && isShort)) return;
    if (!isSame(before, this.#truth.of(stream, indexOf(day), night))) return;
    if (active !== (this.#truth.of('activity', indexOf(day), night).activeUsers ?? 0)) return;
    const isTold = (past: number) =>
      this.#world.lies.some(
        (lie) => lie.firstNight <= past && past <= lie.lastNight && lie.streams.includes(stream),
      );
    const lied = this.#world.runs.flatMap((run) =>
      run.night <= night && isTold(run.night) ? [run.night] : [],
    );
    const isEnough = acceptLoss ? lied.length > 1 : new Set(lied).size >= LOSS_NIGHTS;
    if (!isEnough) this.#fault(night, stream, indexOf(day), `lost after ${lied.length} lying runs`);
  }

  #checkSoon({ night }: Run): void {
    for (let day = Math.max(0, night - this.#world.watchDays + SOON); day < night - SOON; day += 1) {
      for (const stream of ['tools', 'activity', 'productivity'] as const) {
        const { settledAt, watch } = this.#memory.unit(stream, dayAt(day));
        const isWaived = parseNotes(watch).reopenedFor !== undefined;
        if (settledAt !== null && !isWaived && !this.#isRight(stream, day, night) && !this.#isBlocked(stream))
          this.#fault(night, stream, day, `settled, and wrong after ${SOON} honest nights`);
      }
    }
  }

  #checkEnd(): void {
    const night = this.#world.runs.at(-1)?.night ?? 0;
    for (let day = 0; day < night; day += 1) {
      for (const stream of DAILY_STREAMS) {
        const unit = this.#memory.unit(stream, dayAt(day));
        const isRight = this.#isRight(stream, day, night);
        if (unit.settledAt !== null && !isRight && !this.#isHidden(stream, day, night))
          this.#fault(night, stream, day, 'settled, and wrong');
        if (unit.settledAt !== null) continue;
        if (unit.state === 'empty') this.#fault(night, stream, day, 'empty without being settled');
        if (!this.#isToBeOpen(stream, day, night))
          this.#fault(night, stream, day, 'not settled, for no reason');
      }
    }
  }

  #isRight(stream: DailyStream, day: number, night: number): boolean {
    return isSame(this.#memory.content(stream, dayAt(day)), this.#truth.of(stream, day, night));
  }

  /** A request that always fails prevents the comparison of its days; the run reports that. */
  #isBlocked(stream: DailyStream): boolean {
    return [...this.#world.broken].some((unit) => unit.startsWith(stream));
  }

  /** What stays wrong: users, and tokens with the same sums, of days that are no longer compared row by row. */
  #isHidden(stream: DailyStream, day: number, night: number): boolean {
    if (this.#watched.has(`${stream} ${day}`)) return this.#isBlocked(stream);
    if (stream === 'users') return true;
    if (stream !== 'tokens') return false;
    const [stored, truth] = [
      this.#memory.content(stream, dayAt(day)),
      this.#truth.of(stream, day, night),
    ].map(({ sums }) => JSON.stringify([...sums].toSorted()));
    return this.#world.sums !== 'by-model' || stored === truth;
  }

  /** True for a recent day, or one that contradicts itself: an empty stream beside active ones, or other numbers. */
  #isToBeOpen(stream: DailyStream, day: number, night: number): boolean {
    const { broken, malformed } = this.#world;
    if (
      night - day <= 4 ||
      DAILY_STREAMS.some((s) => broken.has(`${s} ${day}`) || malformed.has(`${s} ${day}`))
    )
      return true;
    const honest = this.#truth.of(stream, day, night);
    const hasOthers = DAILY_STREAMS.some((other) => isActive(this.#truth.of(other, day, night)));
    if (!isActive(honest) && hasOthers && night - day <= 31) return true;
    const { watch, contentSha256 } = this.#memory.unit(stream, dayAt(day));
    const notes = parseNotes(watch);
    return notes.odd !== undefined && !hasWaited(notes, contentSha256);
  }

  #fault(night: number, stream: DailyStream, day: number, what: string): void {
    const { state, confirmed, watch, doubt, doubtedAt } = this.#memory.unit(stream, dayAt(day));
    const stored = this.#memory.content(stream, dayAt(day)).text;
    const truth = this.#truth.of(stream, day, night).text;
    const ledger = JSON.stringify({ state, confirmed, watch, doubt, doubtedAt });
    this.faults.push(`night ${night}, ${stream} ${day}: ${what}: "${stored}" for "${truth}", ${ledger}`);
  }
}

/** True for a unit of which no run has seen anything else. */
function isUndisturbed(unit: LedgerDay | undefined): boolean {
  const { noted, looks } = parseNotes(unit?.watch ?? null);
  return noted === undefined && looks === undefined;
}
