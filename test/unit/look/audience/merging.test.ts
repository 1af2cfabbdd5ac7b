// @module-tag campaign/answers

import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../../src/core/day.ts';
import { decideShown, isCoarseEnough, stretchesOf } from '../../../../src/look/report/limits.ts';
import { isolatedPeople } from '../../../support/audience/attack.ts';
import { audienceWorld, publishedOf } from '../../../support/audience/small-world.ts';
import { answersMax } from '../../../support/suite/campaign-length.ts';

const WORLDS = answersMax(2_000, 400);

const span = (from: string, until: string) => ({ from: parseDay(from), until: parseDay(until) });
const people = (...names: string[]) => new Set(names);

describe('groups merged by decideShown', () => {
  it('let no sum and no difference of published numbers isolate fewer people than the limit', {
    timeout: 120_000,
  }, () => {
    const counts = { shown: 0, merged: 0, refused: 0, unsafeWithoutMerging: 0 };
    for (let seed = 1; seed <= WORLDS; seed += 1) {
      const world = audienceWorld(seed);
      const min = 2 + (seed % 3);
      const sizes = world.everybody.map(({ size }) => size);
      if (!isCoarseEnough(world.spans, sizes, min)) {
        counts.refused += 1;
        continue;
      }
      const shown = decideShown(world.groups, world.spans, min);
      counts.shown += shown.size > 0 ? 1 : 0;
      counts.merged += shown.size < world.groups.size ? 1 : 0;
      const { published, pieces } = publishedOf(world, shown);
      expect({ seed, isolated: isolatedPeople(published, pieces, min - 1) }).toEqual({
        seed,
        isolated: null,
      });
      const open = publishedOf(world, new Set(world.groups.keys()));
      if (isolatedPeople(open.published, open.pieces, min - 1) !== null) counts.unsafeWithoutMerging += 1;
    }
    // The worlds are worth something: many would give people away, and in many something can be shown.
    expect(counts.unsafeWithoutMerging).toBeGreaterThan(WORLDS / 10);
    expect(counts.merged).toBeGreaterThan(WORLDS / 10);
    expect(counts.shown).toBeGreaterThan(WORLDS / 10);
    expect(counts.refused).toBeLessThan(WORLDS * 0.8);
  });

  it('joins the next smallest group to the others until they are large enough', () => {
    const groups = new Map([
      ['one', [people('a')]],
      ['three', [people('b', 'c', 'd')]],
      ['four', [people('e', 'f', 'g', 'h')]],
    ]);
    expect(decideShown(groups, [span('2026-02-02', '2026-02-08')], 3)).toEqual(people('four'));
  });

  it('counts someone who was in several merged groups once', () => {
    const groups = new Map([
      ['first', [people('a')]],
      ['second', [people('a')]],
      ['large', [people('c', 'd', 'e')]],
    ]);
    expect(decideShown(groups, [span('2026-02-02', '2026-02-08')], 2)).toEqual(people());
  });

  it('merges a group that is too small in one of the weeks, and keeps one that is absent in it', () => {
    const weeks = [span('2026-02-02', '2026-02-08'), span('2026-02-09', '2026-02-15')];
    const groups = new Map([
      ['small once', [people('a', 'b'), people('a')]],
      ['absent once', [people('b', 'c', 'd'), people()]],
      ['others', [people('x', 'y'), people('x', 'y')]],
      ['large', [people('e', 'f', 'g'), people('e', 'f', 'g')]],
    ]);
    expect(decideShown(groups, weeks, 2)).toEqual(people('large', 'absent once'));
  });
});

describe('the stretches of published spans', () => {
  it('lie between the days on which a span begins or ends', () => {
    expect(stretchesOf([span('2026-02-01', '2026-02-10'), span('2026-02-05', '2026-02-20')])).toEqual([
      span('2026-02-01', '2026-02-04'),
      span('2026-02-05', '2026-02-10'),
      span('2026-02-11', '2026-02-20'),
    ]);
  });

  it('give few people away only if a chain of spans leads around them', () => {
    // The first of February lies between a month and weeks: no chain of spans separates it.
    const apart = [span('2026-01-26', '2026-02-01'), span('2026-02-01', '2026-02-19')];
    expect(isCoarseEnough(apart, [9, 1, 9], 5)).toBe(true);
    // With the days from the second on, the difference is that one day.
    const closed = [...apart, span('2026-02-02', '2026-02-19')];
    expect(isCoarseEnough(closed, [9, 1, 9], 5)).toBe(false);
  });

  it('give nothing away about nobody', () => {
    expect(isCoarseEnough([span('2026-02-01', '2026-02-01')], [0], 5)).toBe(true);
    expect(isCoarseEnough([span('2026-02-01', '2026-02-01')], [4], 5)).toBe(false);
    expect(isCoarseEnough([span('2026-02-01', '2026-02-01')], [5], 5)).toBe(true);
  });
});
