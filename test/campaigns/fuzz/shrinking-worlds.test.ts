// @module-tag campaign/lies

import { expect, test } from 'vitest';
import { daysFrom, FIRST_DAY, parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts';
import { parseDoubt } from '../../../src/judge/doubt.ts';
import { type LedgerRow, ledgerOf, runNight, unnamed } from '../../support/fuzz/campaign-night.ts';
import { CleanAnswers } from '../../support/fuzz/service.ts';
import { type Shrinkage, ShrunkenAnswers, WHOLE } from '../../support/fuzz/shrunken-answers.ts';
import { type Stored, storedIn } from '../../support/fuzz/stored.ts';
import { pick, type Random, seeded } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { type Held, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const FIRST_NIGHT = parseDay('2026-02-05');
/** Nights after the loss in which the service may show another state of it. */
const UNSTEADY_NIGHTS = 6;
const NIGHTS = UNSTEADY_NIGHTS + 12;
const LAST_NIGHT = shiftDay(FIRST_NIGHT, NIGHTS);
const ACCEPT_AFTER_MS = 60 * 60 * 60 * 1000;
const LOOKS = 3;

/** The content shown in a night: the truth, the former content, less than that, or nothing. */
type Shown = 'left' | 'before' | 'less' | 'fails';

/**
 * The program itself on SQLite, against organizations that lose whole days, most users of days, and most or all reports. A
 * loss is doubted: until it is accepted every row that was stored is stored, `status` names the unit and the run ends with
 * 5. It is accepted by a run 60 hours after the first that found it, the third on another UTC day at least, or by
 * `--accept-loss`. A night that shows more missing starts the clock again, one that shows all of it ends the doubt, one that
 * fails does neither. A unit holds what was there before or what is left, never some of both; in the end what is left.
 */
test('losses are doubted, and accepted when they persist', async ({ onTestFinished }) => {
  const random = seeded('shrinking worlds');
  const emulator = await startEmulator({
    realistic: true,
    today: LAST_NIGHT,
    users: 30,
    reports: 30,
    quirks: { readinessLimitCap: 9 },
  });
  onTestFinished(() => emulator.close());
  const clean = new CleanAnswers(emulator);
  const worlds = Math.ceil(answersMax(20_000, 100) / 100);
  let doubts = 0;
  for (let world = 1; world <= worlds; world += 1) {
    const lost = randomLoss(random);
    const warehouse = await open(sqlite);
    await runNight(warehouse, clean, new ShrunkenAnswers(clean, WHOLE), { today: FIRST_NIGHT });
    const [before, after] = [await unitsOf(warehouse, emulator), await truthOf(clean, lost)];
    const least = await truthOf(clean, less(lost));
    const watcher = new Watcher(warehouse, { before, after, least });
    for (let night = 1; night <= NIGHTS; night += 1) {
      if (night <= UNSTEADY_NIGHTS && random() < 0.15) continue;
      const shown: Shown =
        night <= UNSTEADY_NIGHTS ? pick(random, ['left', 'left', 'left', 'before', 'less', 'fails']) : 'left';
      const today = shiftDay(FIRST_NIGHT, night);
      const acceptLoss = random() < 0.05;
      const { report } = await runNight(warehouse, clean, answersOf(clean, lost, shown), {
        today,
        acceptLoss,
      });
      const label = `world ${world}, night ${night} shows ${shown}${acceptLoss ? ', losses accepted' : ''}`;
      expect(
        await watcher.faultsAfter(today, { emulator, acceptLoss, exitCode: report.exitCode }),
        label,
      ).toEqual([]);
      expect(await unnamed(clean, warehouse.place, today), label).toEqual([]);
    }
    expect(await watcher.notAsLeft(emulator), `world ${world} in the end`).toEqual([]);
    doubts += watcher.doubts;
    await warehouse.close();
  }
  expect(doubts).toBeGreaterThan(0);
  countUp('shrinking worlds', 'doubts in process', doubts);
});

function randomLoss(random: Random): Shrinkage {
  const days = daysFrom(FIRST_DAY, shiftDay(FIRST_NIGHT, -5));
  const chosen = days.filter(() => random() < 0.15);
  const gone = chosen.filter(() => random() < 0.5);
  const share = random() * 0.4;
  const isKept = (name: string) => hash(name) < share;
  return {
    days: new Set<string>(gone),
    users: new Map(chosen.filter((day) => !gone.includes(day)).map((day) => [String(day), isKept])),
    hasReport: random() < 0.3 ? () => true : isKept,
  };
}

/** A number from 0 up to 1 for a name. */
function hash(name: string): number {
  let value = 0x811c9dc5;
  for (const char of name) value = Math.imul(value ^ char.charCodeAt(0), 0x01000193);
  return ((value ^ (value >>> 15)) >>> 0) / 2 ** 32;
}

function answersOf(clean: CleanAnswers, lost: Shrinkage, shown: Shown): Pick<ShrunkenAnswers, 'to'> {
  if (shown === 'before') return new ShrunkenAnswers(clean, WHOLE);
  const answers = new ShrunkenAnswers(clean, shown === 'less' ? less(lost) : lost);
  if (shown !== 'fails') return answers;
  return {
    to: async (path) => {
      const answer = await answers.to(path);
      // The newest day is answered, so that the run begins.
      return hash(path) < 0.5 || path.includes(shiftDay(LAST_NIGHT, -1))
        ? answer
        : { ...answer, status: 400 };
    },
  };
}

function less(lost: Shrinkage): Shrinkage {
  return {
    ...lost,
    users: new Map([...lost.users].map(([day, isKept]) => [day, (id) => isKept(id) && hash(id) > 0.1])),
    hasReport: (id) => lost.hasReport(id) && hash(id) > 0.2,
  };
}

async function truthOf(clean: CleanAnswers, lost: Shrinkage): Promise<Stored> {
  const warehouse = await open(sqlite);
  await runNight(warehouse, clean, new ShrunkenAnswers(clean, lost), { today: FIRST_NIGHT });
  const stored = await unitsOf(warehouse, clean.emulator);
  await warehouse.close();
  return stored;
}

async function unitsOf({ place }: Held, { orgId }: Emulator): Promise<Stored> {
  return (await storedIn(place)).of(orgId);
}

/** A standing doubt, and the nights that found it. */
interface Doubted {
  readonly since: string;
  readonly nights: Set<string>;
  readonly isByCount: boolean;
}

/** Follows the units that lose rows, from night to night. */
class Watcher {
  readonly #warehouse: Held;
  readonly #before: Stored;
  readonly #after: Stored;
  /** What a night answers that shows more missing than there is. */
  readonly #least: Stored;
  /** What was stored after the night before. */
  #held: Stored;
  readonly #doubted = new Map<string, Doubted>();
  #ledger: ReadonlyMap<string, LedgerRow> = new Map();
  /** Doubts that were begun. */
  doubts = 0;

  constructor(warehouse: Held, { before, after, least }: { before: Stored; after: Stored; least: Stored }) {
    this.#warehouse = warehouse;
    this.#before = before;
    this.#after = after;
    this.#least = least;
    this.#held = before;
  }

  async faultsAfter(
    today: UtcDay,
    { emulator, acceptLoss, exitCode }: { emulator: Emulator; acceptLoss: boolean; exitCode: number },
  ): Promise<string[]> {
    const stored = await unitsOf(this.#warehouse, emulator);
    const known = this.#ledger;
    this.#ledger = await ledgerOf(this.#warehouse.place);
    const faults: string[] = [];
    for (const name of this.#before.names()) {
      const [now, was, left] = [stored, this.#before, this.#after].map((of) => of.unit(name).rows);
      if (now === undefined || was === undefined || left === undefined) continue;
      const isKnown = same(now, was) || same(now, left);
      // A smaller figure of active users removes nothing: it is believed like any other number, until the next night.
      const isFigure = name.startsWith('activity ') && same(now, this.#least.unit(name).rows);
      if (!isKnown && !isFigure) faults.push(`${name} is neither what it was nor what is left`);
      const unit = this.#ledger.get(name.startsWith('report ') ? 'readiness' : name);
      const held = this.#held.unit(name).rows;
      const isGone = now.length < held.length && unit?.state !== 'doubted';
      const earlier = this.#doubted.get(unit === undefined ? '' : nameOf(unit));
      const isFresh = known.get(unit === undefined ? '' : nameOf(unit))?.state === 'doubted';
      if (isGone && isFresh && !acceptLoss && !isAccepted(earlier, today))
        faults.push(`${name} was accepted too early: ${JSON.stringify(earlier?.since)}`);
      // A loss that was accepted may be followed by the doubt of a greater one.
      if (unit?.state === 'doubted' && !isKnown) faults.push(`${name} is doubted, and is not as it was`);
    }
    this.#held = stored;
    const units = [...this.#ledger.values()];
    for (const unit of units) this.#note(unit, today);
    if (units.some(({ state }) => state === 'doubted') && exitCode !== 5 && exitCode !== 4)
      faults.push(`units are doubted, and the exit code is ${exitCode}`);
    return faults;
  }

  #note(unit: LedgerRow, today: UtcDay): void {
    const name = nameOf(unit);
    const since = unit.doubted_at;
    if (since === null) this.#doubted.delete(name);
    else if (this.#doubted.get(name)?.since === since) this.#doubted.get(name)?.nights.add(today);
    else {
      this.#doubted.set(name, {
        since,
        nights: new Set([today]),
        // Users who are fewer than active ones are no loss any more once the figure of active ones has followed.
        isByCount: parseDoubt(unit.doubt, since)?.rule === 'loss-of-users',
      });
      this.doubts += 1;
    }
  }

  /** Units with wrong final content. */
  async notAsLeft(emulator: Emulator): Promise<string[]> {
    const stored = await unitsOf(this.#warehouse, emulator);
    return this.#before
      .names()
      .filter((name) => !same(stored.unit(name).rows, this.#after.unit(name).rows))
      .map((name) => `${name}: ${JSON.stringify(this.#ledger.get(name) ?? this.#ledger.get('readiness'))}`);
  }
}

function isAccepted(doubt: Doubted | undefined, today: UtcDay): boolean {
  if (doubt === undefined || doubt.isByCount) return doubt?.isByCount === true;
  const nights = new Set([...doubt.nights, today]);
  return (
    nights.size >= LOOKS && Date.parse(`${today}T03:00:01Z`) - Date.parse(doubt.since) >= ACCEPT_AFTER_MS
  );
}

function nameOf({ stream, date }: LedgerRow): string {
  return `${stream} ${date}`.trim();
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify(a.toSorted()) === JSON.stringify(b.toSorted());
}
