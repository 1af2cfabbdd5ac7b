import { expect, onTestFinished } from 'vitest';
import { daysBetween, daysFrom, parseDay, shiftDay, type UtcDay, weekdayOf } from '../../../src/core/day.ts';
import { EXIT } from '../../../src/core/exit-code.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { parseNotes } from '../../../src/judge/notes.ts';
import { envOf } from '../process/daywalk-process.ts';
import { type Rig, rigOver } from '../rig/rig.ts';
import { lie } from '../trust/run-nights.ts';
import type { Database } from '../warehouse/each-database.ts';
import { copyOf } from '../warehouse/earlier-state.ts';
import { expectAllRollups, expectCurrentRollups } from './current-rollups.ts';
import type { Scene } from './scenes.ts';
import { contentsOf, expectSame, expectWhole } from './stored-units.ts';

/** The night of the run that is disturbed; the nights before it have negative numbers. */
const NIGHT = parseDay('2026-02-13');
const night = (number: number) => shiftDay(NIGHT, number);
/** Nights after it, until whatever it did not do must have been made up for. */
const NIGHTS_AFTER = 3;

/** Looks that a unit needs, each on another UTC day. */
const LOOKS = 3;
/** The first day of what has settled before the service changes. */
const SETTLED_FROM = parseDay('2026-01-19');
/** The first days that the two nights before the disturbed run request, of history that has not settled. */
const LATER_HISTORY = [parseDay('2026-01-14'), parseDay('2026-01-16')] as const;
/** Wrong for one night, at an age at which it has not settled. */
const IMPOSSIBLE = parseDay('2026-02-10');
const LEFT = parseDay('2026-02-05');
const RESTATED_LATER = parseDay('2026-02-06');

/** The nights before the disturbed run: the first day that each requests, and what changes at the service before it. */
const nightsBefore = (
  restated: readonly UtcDay[],
): (readonly [from: UtcDay, change: (rig: Rig) => void])[] => [
  ...Array.from({ length: LOOKS }, () => [SETTLED_FROM, () => undefined] as const),
  [
    LATER_HISTORY[1],
    ({ emulator }) => {
      for (const day of restated) emulator.revise({ kind: 'restate', day });
      emulator.revise({ kind: 'vanish-users', day: LEFT });
    },
  ],
  [
    LATER_HISTORY[0],
    (rig) => {
      rig.emulator.revise({ kind: 'restate', day: RESTATED_LATER });
      lie(rig, { impossible: { column: 'tokens_daily.billable_tokens', days: [IMPOSSIBLE] } });
    },
  ],
];

/**
 * A run that takes the third look at history that settles by it, and at settled days that are other than stored and that it
 * stores: some are restated, and one lacks a user who has left. Of other history, and of another restated day, it takes the
 * second look. A unit in quarantine is possible again.
 *
 * Every second disturbed run is followed by one in the same night, the others by that of the next night.
 * @param restated how many settled days are restated; more than ten are a mass.
 */
export async function thirdLooks(database: Database, restated: number): Promise<Scene> {
  const emulator = await startEmulator({
    realistic: true,
    // So many that a restated day has no fewer tools than before: that would be doubted.
    users: 35,
    reports: 0,
    today: night(NIGHTS_AFTER),
  });
  onTestFinished(() => emulator.close());
  const place = await database.migrated();
  const rig = rigOver(emulator, place);
  const workdays = daysFrom(SETTLED_FROM, LEFT).filter((day) => weekdayOf(day) < 6);
  const days = workdays.slice(0, restated);
  const changes = nightsBefore(days);
  for (const [index, [from, change]] of changes.entries()) {
    change(rig);
    await rig.run({ now: night(index - changes.length), from });
  }
  lie(rig);
  const [before, putBack] = [await contentsOf(place), await copyOf(place)];
  const exitCode = await exitCodeOf(rig, 0);
  const [done, doneUnits, digest] = [await contentsOf(place), await unitsOf(rig), await rig.digest()];
  await expectThirdLooks(rig, days);
  for (let number = 1; number <= NIGHTS_AFTER; number += 1) await exitCodeOf(rig, number);
  const [end, settledAtEnd, endDigest] = [await contentsOf(place), await settledOf(rig), await rig.digest()];

  const expectDone = async () => {
    expectSame(await contentsOf(place), done);
    expect(await unitsOf(rig)).toEqual(doneUnits);
    expect(await rig.digest()).toBe(digest);
    await expectAllRollups(place);
  };
  let disturbed = 0;
  return {
    ...{ emulator, place, path: place.location, exitCode },
    env: envOf(rig, { DAYWALK_NOW: `${NIGHT}T03:00:00Z` }),
    reset: putBack,
    expectWhole: async () => {
      expectWhole(await contentsOf(place), [before, done]);
      await expectNoneEarly(rig);
      await expectCurrentRollups(place);
    },
    finish: async () => {
      disturbed += 1;
      if (disturbed % 2 === 1) {
        expect(await exitCodeOf(rig, 0)).toBe(exitCode);
        await expectNoneEarly(rig);
        return expectDone();
      }
      const codes: number[] = [];
      for (let number = 1; number <= NIGHTS_AFTER; number += 1) {
        codes.push(await exitCodeOf(rig, number));
        await expectNoneEarly(rig);
      }
      // A mass lasts until the night after the one that stores the last changed day.
      expect(codes.filter((code) => code !== exitCode && code !== EXIT.ok)).toEqual([]);
      expect(codes.at(-1)).toBe(EXIT.ok);
      expect(await settledOf(rig)).toEqual(settledAtEnd);
      expectSame(await contentsOf(place), end);
      expect(await rig.digest()).toBe(endDigest);
      await expectAllRollups(place);
    },
    expectDone,
  };
}

async function exitCodeOf(rig: Rig, number: number): Promise<number> {
  return (await rig.run({ now: night(number) })).report.exitCode;
}

interface Unit {
  readonly stream: string;
  readonly date: string;
  readonly state: string;
  readonly confirmed: string | null;
  readonly settled_at: string | null;
  readonly watch: string | null;
}

function readUnits(rig: Rig): Promise<Unit[]> {
  return rig.sql(
    `SELECT stream, date, state, confirmed, settled_at, watch FROM export_units WHERE date <> ''
    ORDER BY stream, date`,
  );
}

/**
 * What the ledger says of each unit, with its looks, and without the time of the day. Whether the stored content was also the
 * answer for the day alone depends on the run: what a killed run has reopened, the next one may request in a range.
 */
async function unitsOf(rig: Rig): Promise<unknown[]> {
  return (await readUnits(rig)).map(({ stream, date, state, confirmed, settled_at, watch }) => {
    const { lookedAt, reopenedAt, own: _own, ...notes } = parseNotes(watch);
    const times = [settled_at, lookedAt, reopenedAt].map((time) => time?.slice(0, 10));
    return { stream, date, state, confirmed, times, notes };
  });
}

/** The units that have settled. */
async function settledOf(rig: Rig): Promise<string[]> {
  return (await readUnits(rig)).flatMap(({ stream, date, settled_at }) =>
    settled_at === null ? [] : [`${stream} ${date}`],
  );
}

/** The undisturbed run did what the scene is about. */
async function expectThirdLooks(rig: Rig, restated: readonly UtcDay[]): Promise<void> {
  const settledOn = (day: string) =>
    rig.column(
      `SELECT DISTINCT substr(CAST(settled_at AS text), 1, 10) FROM export_units WHERE date = ?`,
      day,
    );
  expect(await settledOn(LATER_HISTORY[1])).toEqual([NIGHT]);
  expect(await settledOn(LATER_HISTORY[0])).toEqual([null]);
  const changed = await rig.column(
    `SELECT DISTINCT date FROM restatements WHERE stream = 'users' ORDER BY 1`,
  );
  expect(changed).toEqual([...restated, LEFT]);
  expect(await rig.column('SELECT date FROM quarantine')).toEqual([]);
}

/** No unit has settled with fewer looks than three, and no settled day has changed with fewer, each on another UTC day. */
async function expectNoneEarly(rig: Rig): Promise<void> {
  const nightsBetween = (first: UtcDay, last: string) => daysBetween(first, parseDay(last.slice(0, 10))) + 1;
  const settled = (await readUnits(rig)).filter(
    ({ date, settled_at }) =>
      settled_at !== null && nightsBetween(firstAskedOn(parseDay(date)), settled_at) < LOOKS,
  );
  const changed = await rig.sql<{ date: string; at: string }>(
    'SELECT date, detected_at AS at FROM restatements WHERE date = ?',
    RESTATED_LATER,
  );
  expect(settled).toEqual([]);
  expect(changed.filter(({ at }) => nightsBetween(night(-1), at) < LOOKS)).toEqual([]);
}

/** The first night that requests a day. */
function firstAskedOn(day: UtcDay): UtcDay {
  if (day < LATER_HISTORY[1]) return night(-1);
  if (day < SETTLED_FROM) return night(-2);
  const [first, own] = [night(-5), shiftDay(day, 1)];
  return own < first ? first : own;
}
