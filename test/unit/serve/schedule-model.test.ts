// @module-tag campaign/rounds

import { describe, expect, it } from 'vitest';
import { AHEAD_MS_MAX, parseSchedule } from '../../../src/serve/schedule.ts';
import { pick, type Random, SEED, sequence } from '../../support/random/seed.ts';
import { brokenPromises } from '../../support/serve/broken-promises.ts';
import { live, type ScheduleWorld } from '../../support/serve/live.ts';
import type { Disturbance } from '../../support/serve/machine.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const EVENTS_MAX = 14;
const WORLDS = answersMax(20_000, 120);
const MONTHS = answersMax(200, 4);

const SCHEDULES: readonly [Scene, ...Scene[]] = [
  { text: '*/5 * * * *', days: 0.2, start: '2026-03-28T12:00:00Z' },
  { text: '7,41 * * * *', days: 1, start: '2026-10-24T00:00:00Z' },
  { text: '30 */6 * * *', days: 2, start: '2026-12-31T00:00:00Z' },
  { text: '0 3 * * *', days: 3, start: '2028-02-28T00:00:00Z' },
  { text: '0 0 29 2 *', days: 2, start: '2028-02-28T00:00:00Z' },
];

interface Scene {
  readonly text: string;
  readonly days: number;
  readonly start: string;
}

interface Timetable {
  readonly gapMs: number;
  next(after: Date): Date;
}

const timetables = new Map<string, Timetable>();

/** A schedule with its shortest gap; each `next` is computed once. */
function timetable(text: string): Timetable {
  const made = timetables.get(text) ?? makeTimetable(text);
  timetables.set(text, made);
  return made;
}

function makeTimetable(text: string): Timetable {
  const { next, shortestGapMs } = parseSchedule(text);
  const known = new Map<number, Date>();
  return {
    gapMs: shortestGapMs,
    next: (after) => {
      const found = known.get(after.getTime()) ?? next(after);
      known.set(after.getTime(), found);
      return found;
    },
  };
}

const between = (random: Random, least: number, most: number) =>
  Math.floor(least + random() * (most - least));

/** Sleeps, kills, steps of the clock: short and long ones. */
function disturbancesOf(random: Random, lengthMs: number, backMsMax: number): Disturbance[] {
  return Array.from({ length: between(random, 0, EVENTS_MAX) }, () => {
    const atMs = between(random, 0, lengthMs);
    const forMs = between(random, 1, random() < 0.5 ? 10 * MINUTE_MS : lengthMs / 4);
    const kind = pick(random, ['step', 'suspend', 'kill'] as const);
    if (kind !== 'step') return { kind, atMs, forMs };
    const byMs = random() < 0.5 ? forMs : -Math.min(forMs, backMsMax);
    return { kind, atMs, byMs };
  });
}

function worldOf(
  random: Random,
  { text, lengthMs, start }: { text: string; lengthMs: number; start: string },
): ScheduleWorld {
  const { gapMs, next } = timetable(text);
  return {
    start: new Date(Date.parse(start) + between(random, 0, DAY_MS)),
    lengthMs,
    next,
    jitterMs: random() < 0.3 ? 0 : between(random, 0, gapMs),
    // Steps back add up, and the mark of the last round may be ahead by their sum.
    disturbances: disturbancesOf(random, lengthMs, AHEAD_MS_MAX / EVENTS_MAX),
    roundMs: () => between(random, 1, random() < 0.8 ? gapMs / 3 : gapMs * 3),
    random,
  };
}

async function expectKept(seed: number, world: ScheduleWorld) {
  const life = await live(world);
  expect({ seed, broken: brokenPromises(life, world.jitterMs) }).toEqual({ seed, broken: [] });
  return life;
}

describe('the schedule of the service', () => {
  it(`keeps its promises in ${WORLDS} worlds with sleeps, kills, wrong clocks and long rounds`, async () => {
    process.stderr.write(`DAYWALK_SEED=${SEED} repeats the worlds of the schedule\n`);
    const seen = { ticks: 0, rounds: 0, starts: 0, interrupted: 0 };
    for (let index = 0; index < WORLDS; index += 1) {
      const seed = SEED * 100_003 + index;
      const random = sequence(seed);
      const { text, days, start } = pick(random, SCHEDULES);
      const world = worldOf(random, { text, lengthMs: days * DAY_MS, start });
      const { machine, rounds, starts } = await expectKept(seed, world);
      seen.ticks += machine.crossings.length;
      seen.rounds += rounds.length;
      seen.interrupted += rounds.filter(({ isComplete }) => !isComplete).length;
      seen.starts += starts;
    }
    // The worlds are eventful: otherwise this proves nothing.
    expect(seen.ticks).toBeGreaterThan(WORLDS * 5);
    expect(seen.rounds).toBeGreaterThan(WORLDS * 3);
    expect(seen.interrupted).toBeGreaterThan(WORLDS / 10);
    expect(seen.starts).toBeGreaterThan(WORLDS * 2);
  });

  it(`misses no night in ${MONTHS} months`, async () => {
    for (let index = 0; index < MONTHS; index += 1) {
      const seed = SEED * 7_919 + index;
      const world = worldOf(sequence(seed), {
        text: '0 3 * * *',
        lengthMs: 31 * DAY_MS,
        start: '2028-02-01T00:00:00Z',
      });
      const { machine } = await expectKept(seed, world);
      expect(machine.crossings.length).toBeGreaterThanOrEqual(30);
    }
  });

  it('makes up for a week of sleep by one round', async () => {
    const { rounds } = await live({
      ...quiet(),
      lengthMs: 10 * DAY_MS,
      disturbances: [{ kind: 'suspend', atMs: DAY_MS, forMs: 7 * DAY_MS }],
    });
    // Noon of 1 March at the start, 2 March at 3, after the sleep, and 10 and 11 March at 3.
    expect(rounds.map(({ begin }) => new Date(begin.wallMs).toISOString().slice(5, 16))).toEqual([
      '03-01T12:00',
      '03-02T03:00',
      '03-09T12:00',
      '03-10T03:00',
      '03-11T03:00',
    ]);
  });

  it('takes the ticks from before its first start if the clock is set back during the first round', async () => {
    const life = await live({
      ...quiet(),
      start: new Date('2026-03-02T03:30:00Z'),
      disturbances: [
        { kind: 'step', atMs: 20_000, byMs: -HOUR_MS },
        { kind: 'kill', atMs: 40_000, forMs: MINUTE_MS },
      ],
    });
    expect(life.rounds.map(({ begin }) => new Date(begin.wallMs).toISOString().slice(5, 16))).toEqual([
      '03-02T03:30',
      '03-02T02:31',
      '03-02T03:00',
    ]);
    expect(brokenPromises(life, 0)).toEqual([]);
  });

  it('goes on soon after a clock that was years ahead is set right', async () => {
    const years = 3_650 * DAY_MS;
    const { rounds } = await live({
      ...quiet(),
      lengthMs: 3 * DAY_MS,
      disturbances: [
        { kind: 'step', atMs: 2 * HOUR_MS, byMs: years },
        { kind: 'step', atMs: 4 * HOUR_MS, byMs: -years },
      ],
    });
    expect(rounds.map(({ begin }) => Math.round(begin.atMs / HOUR_MS))).toEqual([0, 2, 4, 15, 39, 63]);
  });
});

function quiet(): ScheduleWorld {
  return {
    start: new Date('2026-03-01T12:00:00Z'),
    lengthMs: DAY_MS,
    next: timetable('0 3 * * *').next,
    jitterMs: 0,
    disturbances: [],
    roundMs: () => MINUTE_MS,
    random: sequence(1),
  };
}
