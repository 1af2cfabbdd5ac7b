import { dayOf, daysBetween, parseDay, shiftDay, startOfDayMs } from '../../../src/core/day.ts';
import { doubtText, parseDoubt, type StandingDoubt } from '../../../src/judge/doubt.ts';
import { isMostMissing, type ReportLoss, weighReports } from '../../../src/judge/missing-reports.ts';
import { pick, type Random, sequence } from '../random/seed.ts';

const FIRST_NIGHT = parseDay('2026-03-01');
const NIGHTS = 40;
/** Every report is read again after this many days, and in every run while one is missing. */
const FULL_PASS_DAYS = 7;

/** The rule under test: which of the missing reports are gone. */
export type ReportRule = typeof weighReports;

/** A full pass over the reports, as the model remembers it: when it was, and what it lacked of what was stored. */
interface Pass {
  readonly at: Date;
  readonly missing: ReadonlySet<string>;
  readonly stored: number;
}

/**
 * The nightly life of one list of reports. People add and delete reports; the service loses some, half, most or all of
 * them for one to three nights; nights are missed, runs are repeated on the same day, and passes are killed.
 */
export class ReportLists {
  /** What contradicts the promise. */
  readonly faults: string[] = [];
  /** How many reports were deleted, and how many passes found some missing. */
  readonly counts = { deleted: 0, missed: 0, doubted: 0 };
  readonly #random: Random;
  readonly #weigh: ReportRule;
  readonly #truth = new Set<string>();
  readonly #stored = new Set<string>();
  readonly #passes: Pass[] = [];
  #standing: StandingDoubt | null = null;
  #fullPassOn = FIRST_NIGHT;
  #hidden: ReadonlySet<string> = new Set();
  #liesUntil = -1;
  #named = 0;

  constructor(seed: number, weigh: ReportRule = weighReports) {
    this.#random = sequence(seed);
    this.#weigh = weigh;
    this.#add(1 + Math.floor(this.#random() * pick(this.#random, [3, 12, 30])));
    for (let night = 0; night < NIGHTS; night += 1) this.#live(night);
    // Two honest passes on two days delete what is gone, and find what is back; most need up to four.
    for (let night = NIGHTS; night < NIGHTS + 4; night += 1) this.#pass(night, 3, new Set());
    if (!equal(this.#stored, this.#truth)) this.faults.push('honest nights do not restore the list');
    if (this.#standing !== null) this.faults.push('something is missing although nothing is');
  }

  #live(night: number): void {
    const random = this.#random;
    if (random() < 0.3) this.#add(1 + Math.floor(random() * 3));
    if (random() < 0.1) for (const id of this.#some(pick(random, [0.1, 0.3, 0.7]))) this.#truth.delete(id);
    if (night > this.#liesUntil && random() < 0.15) {
      this.#hidden = this.#some(pick(random, [0.1, 0.3, 0.5, 0.7, 1]));
      this.#liesUntil = night + pick(random, [0, 0, 0, 1, 2]);
    }
    const isLying = night <= this.#liesUntil;
    const hours = random() < 0.15 ? [] : random() < 0.2 ? [1, 23] : [pick(random, [0, 3, 23])];
    for (const hour of hours) {
      const isDue = daysBetween(this.#fullPassOn, shiftDay(FIRST_NIGHT, night)) >= FULL_PASS_DAYS;
      const isKilled = random() < 0.1;
      if ((isDue || this.#standing !== null || random() < 0.1) && !isKilled)
        this.#pass(night, hour, isLying ? this.#hidden : new Set());
    }
  }

  #add(count: number): void {
    for (let added = 0; added < count; added += 1) this.#truth.add(`r${this.#named++}`);
  }

  #some(share: number): ReadonlySet<string> {
    return new Set([...this.#truth].filter(() => this.#random() < share));
  }

  /** A full pass: new reports are stored, then the rule decides about the missing ones. */
  #pass(night: number, hour: number, hidden: ReadonlySet<string>): void {
    const at = new Date(startOfDayMs(shiftDay(FIRST_NIGHT, night)) + hour * 3_600_000);
    const listed = [...this.#truth].filter((id) => !hidden.has(id));
    const before = this.#stored.size;
    for (const id of listed) this.#stored.add(id);
    const seen = new Set(listed);
    const loss: ReportLoss = { missing: [...this.#stored].filter((id) => !seen.has(id)), stored: before };
    const { gone, doubt } = this.#weigh(this.#standing, loss, { now: at, acceptsLoss: false });
    this.#passes.push({ at, missing: new Set(loss.missing), stored: before });
    this.#fullPassOn = dayOf(at);
    this.#check(loss, gone, doubt);
    for (const id of gone) this.#stored.delete(id);
    // The ledger holds it as text.
    this.#standing = doubt === null ? null : parseDoubt(doubtText(doubt), doubt.since);
    this.counts.deleted += gone.length;
    this.counts.missed += Number(loss.missing.length > 0);
    this.counts.doubted += Number(doubt !== null && isMostMissing(doubt));
  }

  #check({ missing, stored }: ReportLoss, gone: readonly string[], doubt: StandingDoubt | null): void {
    for (const id of gone) {
      const days = this.#daysWithout(id);
      const most = missing.length > stored / 2;
      if (days < (most ? 3 : 2)) this.faults.push(`${id} is deleted after passes on ${days} days`);
    }
    const left = missing.filter((id) => !gone.includes(id));
    if (left.toSorted().join() !== [...(doubt?.missing ?? [])].toSorted().join())
      this.faults.push('the missing reports are not listed');
    const isSilent = left.length > stored / 2 && (doubt === null || !isMostMissing(doubt));
    if (isSilent) this.faults.push(`${left.length} of ${stored} reports are missing, and nothing is doubted`);
  }

  /** The days of the newest passes that lacked a report, back to one that had it. */
  #daysWithout(id: string): number {
    const from = this.#passes.findLastIndex(({ missing }) => !missing.has(id)) + 1;
    return new Set(this.#passes.slice(from).map(({ at }) => dayOf(at))).size;
  }
}

function equal(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id));
}
