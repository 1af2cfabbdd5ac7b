// @module-tag campaign/lies

import { describe, expect, test } from 'vitest';
import { HONEST, type Life, LYING, liveWith } from '../../support/model/families.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

/** 3,000 lives in all. */
const FAMILIES = Object.keys(LYING).length + Object.keys(HONEST).length;
const worlds = Math.ceil(answersMax(3_000, FAMILIES) / FAMILIES);
const livesOf = (behaviour: Parameters<typeof liveWith>[0]): Life[] =>
  Array.from({ length: worlds }, (_, number) => liveWith(behaviour, 1_000 + number));

/**
 * The rules of `src/judge` against families of services, for 45 nights from a first sync of 120 days on. A night is silent if
 * a settled unit is wrong, no state names it, and the run exits with 0.
 */
describe('a service that', () => {
  test.each(Object.entries(LYING))(
    '%s: never goes unnamed, and the copy is right in the end',
    (_, behaviour) => {
      for (const life of livesOf(behaviour)) {
        expect(life.silentNights).toEqual([]);
        expect(life.wrongAtEnd).toBe(0);
      }
    },
  );
});

describe('an honest service that', () => {
  test.each(['never changes an answer', 'restates single days'] as const)(
    '%s: settles on the third night, and no run exits with another code than 0',
    (name) => {
      for (const life of livesOf(HONEST[name])) {
        expect(life.settledAfter).toBe(3);
        expect(life.suspectNights).toEqual([]);
        expect(life.wrongAtEnd).toBe(0);
      }
    },
  );

  test.each(['bills a month again', 'recalculates everything'] as const)(
    '%s: is named at once and stored within four nights',
    (name) => {
      for (const life of livesOf(HONEST[name])) {
        expect(life.suspectNights[0]).toBe(13);
        expect(life.suspectNights.length).toBeLessThanOrEqual(4);
        expect(life.lastWrong).toBeLessThanOrEqual(16);
        expect(life.wrongAtEnd).toBe(0);
      }
    },
  );
});
