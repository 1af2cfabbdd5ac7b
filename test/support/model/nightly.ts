import { IDENTITIES } from '../../../schema/invariants.ts';
import { dayOf, notedDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { canonicalJson } from '../../../src/core/json.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { awaitsLeavers } from '../../../src/judge/doubt.ts';
import { flappingAfter, isFlappingNow, looksMinOf, parseFlapping } from '../../../src/judge/flapping.ts';
import { daysToCompare, judgeUsers } from '../../../src/judge/foreign.ts';
import type { CountedIdentity } from '../../../src/judge/identities.ts';
import { LOOKS } from '../../../src/judge/looks.ts';
import { isUnstableUnit, parseNotes } from '../../../src/judge/notes.ts';
import type { DayBatch } from '../../../src/pipeline/plan.ts';
import { planUnits } from '../../../src/pipeline/plan.ts';
import { chooseStandIn, SecondLooks } from '../../../src/pipeline/run/request-again.ts';
import { type DayUnit, type LedgerDay, unitName } from '../../../src/units/unit.ts';
import type { Random } from '../random/seed.ts';
import { commitOf } from './commit.ts';
import { type Content, isActive } from './content.ts';
import { judged } from './judge-day.ts';
import { answerTo } from './lies.ts';
import { isModelCommit, type Memory, type ModelCommit } from './memory.ts';
import type { Rules } from './rules.ts';
import { ModelWatch } from './watching.ts';
import { dayAt, indexOf, type Run, stretchesOf, type Truth, timeOf, type World } from './world.ts';

const SETTLE_DAYS = 3;

export interface Nightly {
  readonly world: World;
  readonly truth: Truth;
  readonly memory: Memory;
  readonly rules: Rules;
  readonly random: Random;
}

/** One run over the model, in the order of `src/pipeline/run`, without requests, pages and transactions. */
export class ModelRun {
  readonly #model: Nightly;
  readonly #run: Run;
  readonly #now: Date;
  readonly #today: UtcDay;
  readonly #looks: SecondLooks;
  readonly #watch: ModelWatch;
  readonly #queue: DayBatch[] = [];
  readonly #doubtedAtStart: ReadonlySet<string>;
  /** The identities that count, as the ledger tells when the run begins. */
  readonly identities: readonly CountedIdentity[];
  #usersRangeMax: number;
  /** Nothing was stored, because the answers are about another organization. */
  #isRefused = false;
  #planned = new Set<string>();
  requests = 0;

  constructor(model: Nightly, run: Run) {
    this.#model = model;
    this.#run = run;
    this.#now = timeOf(run);
    this.#today = dayOf(this.#now);
    this.#looks = new SecondLooks(model.memory.ledger);
    const { memory, rules } = model;
    const settling = { today: this.#today, settleDays: SETTLE_DAYS };
    this.identities = rules.countIdentities(IDENTITIES, memory.ledger.days(), settling);
    this.#watch = new ModelWatch(model, run, { today: this.#today, identities: this.identities });
    this.#usersRangeMax = model.world.rangeMax;
    const doubted = model.memory.ledger.all().filter(({ state }) => state === 'doubted');
    this.#doubtedAtStart = new Set(doubted.map(unitName));
  }

  /**
   * Pulls the plan, compares settled units, reopens those that differ.
   * @throws {Killed} when the process is killed on the way.
   */
  perform(): void {
    const { memory, rules } = this.#model;
    this.#isRefused = this.#model.world.checksOrganization === true && this.#isForeign();
    if (this.#isRefused) return;
    memory.writesLeft = this.#run.killedAfter ?? Number.POSITIVE_INFINITY;
    const range = { firstDay: this.#firstOpenDay(), lastDay: shiftDay(this.#today, -1) };
    const time = { now: this.#now, settleDays: SETTLE_DAYS };
    const { units } = planUnits({ ...this.#run, ...range, newestFirst: false }, memory.ledger.all(), time);
    this.#planned = new Set(units.map(({ stream, day }) => `${stream} ${day}`));
    this.#add([...units, ...this.#watch.recent]);
    this.#workOff();
    this.#add(this.#watch.older);
    this.#watch.lookAtSums((stream, days) => this.#ask(stream, days, true));
    this.#watch.lookAtPages((stream, days) => this.#ask(stream, days));
    this.#workOff();
    this.#add(this.#watch.others(this.#now));
    this.#workOff();
    const reopened = this.#watch
      .conclude(rules, this.#now)
      .flatMap(({ day, streams }) =>
        streams.flatMap((stream) => (this.#run.streams.includes(stream) ? [{ stream, day }] : [])),
      );
    for (const { stream, day } of reopened) this.#planned.add(`${stream} ${day}`);
    // As `run.ts` does, the first ten days are requested alone.
    const first = new Set([...new Set(reopened.map(({ day }) => day))].slice(0, 10));
    for (const { stream, day } of reopened) if (first.has(day)) this.#alone(stream, [day]);
    this.#add(reopened.filter(({ day }) => !first.has(day)));
    this.#workOff();
    const unstable = new Set(
      memory.ledger.days().flatMap((unit) => (isUnstableUnit(unit) ? [unit.day] : [])),
    );
    memory.flapping = canonicalJson(flappingAfter(this.#flapping, unstable.size, this.#today));
    if (memory.activeSince !== null || !memory.ledger.days().some(({ state }) => state === 'loaded')) return;
    memory.activeSince = this.#now.toISOString();
    memory.settleWaiting(this.#rule);
  }

  /** Before anything is stored: whether the users of stored days are others than the stored ones. */
  #isForeign(): boolean {
    const { memory, truth, world } = this.#model;
    const stored = memory.ledger
      .days()
      .flatMap(({ stream, day }) =>
        stream === 'users' && isActive(memory.content('users', day)) ? [day] : [],
      );
    const { range } = daysToCompare(stored, world.rangeMax);
    const [first, last] = [range[0], range.at(-1)];
    if (first === undefined || last === undefined) return false;
    const asked = {
      stream: 'users',
      first: indexOf(first),
      last: indexOf(last),
      night: this.#run.night,
    } as const;
    const answer = answerTo(truth, world.lies, asked);
    const answered = range.flatMap((day) =>
      (answer.get(indexOf(day))?.keys ?? []).map((userId) => ({ day, userId })),
    );
    return judgeUsers(answered, ({ day, userId }) => memory.content('users', day).keys.includes(userId))
      .isForeign;
  }

  /** True if the run ends with exit code 5: something is doubted, many days differ, or the service contradicts itself. */
  get isSuspect(): boolean {
    const { ledger } = this.#model.memory;
    const flapping = this.#flapping;
    const isNamed = flapping !== null && isFlappingNow(flapping, this.#today);
    const isBad = (unit: LedgerDay) =>
      (unit.state === 'doubted' && !awaitsLeavers(unit)) ||
      unit.state === 'quarantined' ||
      isUnstableUnit(unit);
    return this.#isRefused || isNamed || this.#watch.mass !== null || ledger.days().some(isBad);
  }

  /** Settled units that this run compares row by row, `tools 3`, except those reopened in vain before. */
  get lookedAt(): string[] {
    return [...this.#watch.recent, ...this.#watch.older].flatMap(({ stream, day }) => {
      const { reopenedFor } = parseNotes(this.#model.memory.unit(stream, day).watch);
      return reopenedFor === undefined ? [`${stream} ${indexOf(day)}`] : [];
    });
  }

  #add(units: readonly DayUnit[]): void {
    for (const stream of DAILY_STREAMS) {
      const days = units.filter((unit) => unit.stream === stream).map(({ day }) => day);
      this.#queueAll(stream, [...new Set(days)].toSorted(), this.#rangeMax(stream));
    }
  }

  #queueAll(stream: DailyStream, days: readonly UtcDay[], daysMax: number): void {
    this.#queue.push(...stretchesOf(days, daysMax).map((stretch): DayBatch => ({ stream, days: stretch })));
  }

  /** All days before it are settled; planning over them would take most of the time for nothing. */
  #firstOpenDay(): UtcDay {
    const { memory } = this.#model;
    const isOpen = (day: number) =>
      DAILY_STREAMS.some((stream) => memory.unit(stream, dayAt(day)).settledAt === null);
    const last = indexOf(this.#today) - 1;
    let day = 0;
    while (!this.#run.force && day < last && !isOpen(day)) day += 1;
    return dayAt(day);
  }

  #rangeMax(stream: DailyStream): number {
    return stream === 'users' ? this.#usersRangeMax : this.#model.world.rangeMax;
  }

  /** Batches end in any order. */
  #workOff(): void {
    do {
      while (this.#queue.length > 0) {
        const [batch] = this.#queue.splice(Math.floor(this.#model.random() * this.#queue.length), 1);
        if (batch !== undefined) this.#pull(batch);
      }
    } while (this.#lookAgain());
  }

  #lookAgain(): boolean {
    const { alone, gaps, empty } = this.#looks.next(this.#model.world.rangeMax);
    for (const commit of empty) if (isModelCommit(commit)) this.#model.memory.commit(commit);
    const single = alone.map(({ stream, day }): DayBatch => ({ stream, days: [day] }));
    this.#queue.push(...single, ...gaps);
    return this.#queue.length > 0 || empty.length > 0;
  }

  #ask(stream: DailyStream, days: readonly UtcDay[], isSums = false): ReadonlyMap<number, Content> | null {
    const { world, truth, random } = this.#model;
    const [first, last] = [days[0], days.at(-1)];
    if (first === undefined || last === undefined) return null;
    this.requests += 1;
    if (random() < this.#run.failing || this.#isAmong(world.broken, stream, days)) return null;
    const { night } = this.#run;
    // The service refuses a day that is not over: the clock of the host is ahead.
    if (indexOf(last) >= night) return null;
    return answerTo(truth, world.lies, { stream, first: indexOf(first), last: indexOf(last), night, isSums });
  }

  #isAmong(units: ReadonlySet<string>, stream: DailyStream, days: readonly UtcDay[]): boolean {
    return units.size > 0 && days.some((day) => units.has(`${stream} ${indexOf(day)}`));
  }

  #pull(batch: DayBatch): void {
    const { stream, days } = batch;
    const answer = this.#ask(stream, days);
    const pulled = days.filter((day) => this.#watch.settled({ stream, day }) === undefined);
    if (answer === null) this.#failed(batch, pulled);
    else this.#sort(batch, answer);
  }

  #sort(batch: DayBatch, answer: ReadonlyMap<number, Content>): void {
    const { stream, days } = batch;
    const isRange = days.length > 1;
    const hasRows = [...answer.values()].some(({ rows }) => rows > 0);
    if (isRange && batch.isGap === true) {
      if (hasRows) this.#alone(stream, days);
      else this.#looks.confirmGap(days);
      return;
    }
    const isSpoilt = isRange && this.#isAmong(this.#model.world.malformed, stream, days);
    if (isSpoilt || (isRange && !hasRows)) {
      this.#unclear(batch, isSpoilt);
      return;
    }
    for (const day of days) {
      const content = answer.get(indexOf(day));
      if (content === undefined) continue;
      const settled = this.#watch.settled({ stream, day });
      if (settled !== undefined) {
        this.#watch.look(settled, content);
        if (content.rows === 0) this.#lookAtOthers(batch, content);
        else if (batch.speaksFor !== undefined) this.#watch.failed();
      } else if (content.held !== undefined && isRange) this.#alone(stream, [day]);
      else if (content.held !== undefined) this.#hold(stream, day, content.held);
      else this.#take(batch, this.#commitOf(stream, day, content, !isRange));
    }
  }

  /** What is stored stays, and the unit is in quarantine. */
  #hold(stream: DailyStream, day: UtcDay, record: string): void {
    const { memory } = this.#model;
    const name = `${stream} ${day} ${record}`;
    const heldSince = notedDay(memory.heldSince.get(name) ?? this.#today, this.#today);
    memory.heldSince.set(name, heldSince);
    const basedOn = memory.unit(stream, day).contentSha256;
    const held = { isOwn: true, isMalformed: true, heldSince, basedOn, rule: this.#rule, now: this.#now };
    memory.commit(commitOf({ stream, day }, memory.content(stream, day), held));
  }

  /** In an empty range, one day without rows represents the others. */
  #lookAtOthers({ stream, days, speaksFor = [] }: DayBatch, content: Content): void {
    for (const day of speaksFor) {
      const unit = days.includes(day) ? undefined : this.#watch.settled({ stream, day });
      if (unit !== undefined) this.#watch.look(unit, content);
    }
  }

  #unclear(batch: DayBatch, isSpoilt: boolean): void {
    const { stream, days } = batch;
    const watched = days.flatMap((day) => this.#watch.settled({ stream, day }) ?? []);
    const isWatched = (day: UtcDay) => watched.some((unit) => unit.day === day);
    this.#alone(
      stream,
      days.filter((day) => !isWatched(day)),
    );
    if (!isSpoilt) this.#queue.push(...chooseStandIn(batch, watched));
    else this.#queueAll(stream, days.filter(isWatched), Math.ceil(days.length / 2));
  }

  #failed({ stream, days }: DayBatch, pulled: readonly UtcDay[]): void {
    if (pulled.length < days.length) this.#watch.failed();
    if (days.length > 1) this.#alone(stream, pulled);
    else
      for (const day of pulled)
        this.#model.memory.fail(stream, day, { pulledAt: this.#now, rule: this.#rule });
  }

  #alone(stream: DailyStream, days: readonly UtcDay[]): void {
    this.#queue.push(...days.map((day): DayBatch => ({ stream, days: [day] })));
  }

  get #flapping() {
    return parseFlapping(this.#model.memory.flapping, this.#today);
  }

  get #rule() {
    const looks = looksMinOf(this.#flapping, this.#today);
    const { identities } = this;
    const { activeSince } = this.#model.memory;
    return {
      ...{ today: this.#today, settleDays: SETTLE_DAYS, identities },
      ...(looks > LOOKS && { looks }),
      ...(activeSince !== undefined && { activeSince }),
    };
  }

  #commitOf(stream: DailyStream, day: UtcDay, content: Content, isOwn: boolean): ModelCommit {
    const { memory, world } = this.#model;
    const isMalformed = world.malformed.has(`${stream} ${indexOf(day)}`);
    const basedOn = memory.unit(stream, day).contentSha256;
    return commitOf({ stream, day }, content, {
      isOwn,
      isMalformed,
      basedOn,
      rule: this.#rule,
      now: this.#now,
    });
  }

  /** Does what the pipeline does with the answer about a day. */
  #take(batch: DayBatch, commit: ModelCommit): void {
    const { memory } = this.#model;
    const { stream, day, content } = commit;
    const isActiveDue = this.#planned.has(`activity ${day}`) && this.#looks.isOpen(day);
    const acceptsLoss = this.#run.acceptLoss && this.#doubtedAtStart.has(`${stream} ${day}`);
    const active = this.#looks.activeUsers(day);
    const verdict = judged(this.#model, commit, { active, isActiveDue, acceptsLoss, now: this.#now });
    const isKnown = parseNotes(memory.unit(stream, day).watch).own === commit.contentSha256;
    if (verdict === 'request-alone') this.#alone(stream, [day]);
    else if (verdict === 'request-later') this.#looks.requestLater({ stream, day });
    else if (verdict !== 'believe') memory.doubt(commit, verdict);
    else if (content.rows === 0 && !commit.isOwn && !isKnown) this.#looks.holdGap(commit);
    else {
      if (this.#looks.recordAnswer(commit, batch)) this.#usersRangeMax = 1;
      memory.commit(this.#asLook(commit) ?? commit);
    }
  }

  /** What is stored once more, if a reopened unit is answered otherwise than looks had found: the answer is a look. */
  #asLook({ stream, day, contentSha256 }: ModelCommit): ModelCommit | undefined {
    const { memory, rules } = this.#model;
    const { contentSha256: stored, watch } = memory.unit(stream, day);
    if (stored === null || !rules.isOtherThanLooked(parseNotes(watch), stored, [contentSha256]))
      return undefined;
    return { ...this.#commitOf(stream, day, memory.content(stream, day), true), otherSha256: contentSha256 };
  }
}
