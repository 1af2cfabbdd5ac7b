import { describe, expect, it } from 'vitest';
import { notedDay, parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { canonicalJson } from '../../../src/core/json.ts';
import {
  type Flapping,
  flappingAfter,
  isFlappingNow,
  looksMinOf,
  parseFlapping,
} from '../../../src/judge/flapping.ts';
import { LOOKS, LOOKS_UNSTABLE } from '../../../src/judge/looks.ts';
import { type Mass, massAfter } from '../../../src/judge/mass.ts';
import { lookAtRows, lookAtSums } from '../../../src/judge/watch.ts';
import { chaseAfter, leftOutAfter, parseWatchState, type WatchState } from '../../../src/judge/watch-plan.ts';
import { rememberedRange } from '../../../src/pipeline/run/range-gauge.ts';

/** The night on which the clock is wrong; it is right on all others. */
const WRONG = parseDay('2026-06-01');
const night = (number: number) => shiftDay(WRONG, number);

const START: WatchState = { olderFrom: null, heavyOn: null };
/** The progress of the watch as the next run reads it on a day. */
const read = (more: Partial<WatchState>, today: UtcDay) =>
  parseWatchState(canonicalJson({ ...START, ...more }), today);

/** Nights after the one with the wrong clock on which something is the case. */
function nightsWhile(isSo: (today: UtcDay) => boolean): number {
  let nights = 0;
  while (nights < 100 && isSo(night(nights + 1))) nights += 1;
  return nights;
}

describe.each([
  ['40 days ahead', 40],
  ['right', 0],
  ['40 days behind', -40],
])('after a night with a clock that was %s', (_, off) => {
  const noted = shiftDay(WRONG, off);
  /** A state that begins on the first right night lasts a night longer than one that began the night before. */
  const nightsOf = (ahead: number) => (off > 0 ? ahead : off === 0 ? ahead - 1 : 0);

  it('a service that alternated is named for three nights, and needs more looks for two weeks', () => {
    const nightsAfter = (isSo: (flapping: Flapping | null, today: UtcDay) => boolean) => {
      let text = canonicalJson(flappingAfter(null, 3, noted));
      return nightsWhile((today) => {
        const flapping = flappingAfter(parseFlapping(text, today), 0, today);
        text = canonicalJson(flapping);
        return isSo(flapping, today);
      });
    };
    expect(nightsAfter((flapping, today) => flapping !== null && isFlappingNow(flapping, today))).toBe(
      nightsOf(4),
    );
    expect(nightsAfter((flapping, today) => looksMinOf(flapping, today) === LOOKS_UNSTABLE)).toBe(
      nightsOf(15),
    );
    expect(looksMinOf(null, night(1))).toBe(LOOKS);
    expect(flappingAfter(null, 2, night(1))).toBeNull();
    expect(flappingAfter({ since: noted, lastOn: noted }, 2, shiftDay(noted, 15))).toBeNull();
  });

  it('many days that differ are named for three weeks at most', () => {
    const days = Array.from({ length: 11 }, (_day, index) => shiftDay(WRONG, -60 - index));
    let mass: Mass | null = massAfter(undefined, days, { isOpen: true, today: noted });
    const nights = nightsWhile((today) => {
      mass = massAfter(read(mass === null ? {} : { mass }, today).mass, [], { isOpen: true, today });
      return mass !== null;
    });
    expect(nights).toBe(nightsOf(22));
  });

  it('users who seem to have left are followed for four nights, and then others', () => {
    let chase = chaseAfter(undefined, ['ada'], noted);
    const nights = nightsWhile((today) => {
      chase = chaseAfter(read(chase === null ? {} : { chase }, today).chase, ['ben'], today);
      return chase?.cursors[0] === 'ada';
    });
    expect(nights).toBe(nightsOf(4));
    expect(chase).toEqual({ since: night(nights + 1), cursors: ['ben'] });
  });

  it('a refused range is tried again a month later', () => {
    let text = canonicalJson({ days: 10, refusedOn: noted });
    const nights = nightsWhile((today) => {
      const range = rememberedRange(text, today);
      text = canonicalJson(range);
      return range !== null;
    });
    expect(nights).toBe(nightsOf(31));
  });

  it('what had no requests left has waited since no later day than today', () => {
    const before = leftOutAfter(undefined, [WRONG], noted) ?? undefined;
    const { leftOut } = read(before === undefined ? {} : { leftOut: before }, night(1));
    expect(leftOut?.since).toBe(notedDay(noted, night(1)));
  });

  it('a difference of sums counts again on the next night, or on the one after it', () => {
    const seen = { sha256: 'b'.repeat(64), by: 'models' } as const;
    let { notes } = lookAtSums({}, seen, new Date(`${noted}T03:00:00Z`));
    const nights = nightsWhile((today) => {
      const look = lookAtSums(notes, seen, new Date(`${today}T03:00:00Z`));
      notes = look.notes;
      return !look.isConfirmed;
    });
    expect(nights).toBe(off > 0 ? 1 : 0);
  });

  it('a difference that the answer of its day refuted is seen again two weeks later, or at once', () => {
    const [stored, other] = ['a'.repeat(64), 'b'.repeat(64)];
    const notes = { reopenedFor: other.slice(0, 16), reopenedAt: `${noted}T03:00:00.000Z` };
    const nights = nightsWhile((today) => {
      const looked = { stored, looksMin: LOOKS, now: new Date(`${today}T03:00:00Z`) };
      return lookAtRows(notes, { sha256: other, by: 'rows' }, looked).notes.looks === undefined;
    });
    // What the answer of a day in the future has refuted is followed again.
    expect(nights).toBe(off === 0 ? 13 : 0);
  });
});
