import { describe, expect, it } from 'vitest';
import {
  type Blocks,
  decideBlocks,
  type PersonWeek,
  WEEK_DIMENSIONS,
  type WeekDimension,
} from '../../../src/weeks/blocks.ts';
import { singledOut } from '../../../src/weeks/small-groups.ts';
import { sequence } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';
import { attackWeek } from '../../support/weeks/attack-week.ts';
import { randomWeek } from '../../support/weeks/random-organization.ts';
import { isolatedPeople } from '../../support/weeks/subset-attack.ts';

const K = 5;

describe('people whom a combination of sums singles out', () => {
  it('are found exactly where every set of so few people is tried', () => {
    const found = { leaks: 0, safe: 0 };
    for (let seed = 1; seed <= answersMax(3_000, 300); seed += 1) {
      const random = sequence(seed);
      const size = 3 + Math.floor(random() * 6);
      const columns = 2 + Math.floor(random() * 4);
      const people = Array.from({ length: size }, () =>
        Array.from({ length: 1 + Math.floor(random() * 2) }, () => [
          0,
          ...Array.from({ length: columns }, (_, column) => column + 1).filter(() => random() < 0.4),
        ]),
      );
      const k = 2 + Math.floor(random() * 3);
      const pieces = people.flatMap((rows, person) => rows.map((row) => ({ person: String(person), row })));
      const published = Array.from({ length: columns + 1 }, (_, column) =>
        pieces.map(({ row }) => row.includes(column)),
      );
      const isLeak = isolatedPeople(published, pieces, Math.min(k - 1, size)) !== null;
      found[isLeak ? 'leaks' : 'safe'] += 1;
      const found2 = singledOut(people, k, { left: 1e9 });
      expect({ seed, isLeak: found2 !== null }).toEqual({ seed, isLeak });
    }
    expect(Math.min(found.leaks, found.safe)).toBeGreaterThan(20);
  });
});

/** Each group alone, if it is large enough. */
function groupsAlone(people: readonly PersonWeek[], isShown: (size: number) => boolean) {
  return new Map(
    WEEK_DIMENSIONS.map((dimension) => {
      const members = new Map<string, Set<number>>();
      for (const [person, { days, credits, files }] of people.entries())
        for (const part of [...days, ...credits, ...files]) {
          const name = part[dimension];
          if (name !== undefined) members.set(name, (members.get(name) ?? new Set()).add(person));
        }
      const shown = [...members].filter(([, own]) => isShown(own.size));
      return [dimension, new Map(shown.map(([name]) => [name, name]))] as const;
    }),
  );
}

const decided = (people: readonly PersonWeek[]) =>
  decideBlocks({ people, k: K, dimensions: WEEK_DIMENSIONS });

describe('the blocks of a week', () => {
  it('are none if fewer people were active than the limit', () => {
    const people = randomWeek(1, { people: K, teams: 1 });
    expect(decided(people)).not.toBeNull();
    expect(decided(people.slice(1))).toBeNull();
  });

  it('let nobody compute a number about fewer people than the limit, whatever they add and subtract', {
    timeout: 600_000,
  }, () => {
    const counts = { weeks: 0, naive: 0, teams: 0, large: 0 };
    for (let seed = 1; seed <= answersMax(2_000, 4); seed += 1) {
      const size = 30 + ((seed * 37) % 220);
      const people = randomWeek(seed, { people: size, teams: 3 + Math.floor(size / 12) });
      const blocks = decided(people) ?? new Map<WeekDimension, Blocks>();
      expect({ seed, found: attackWeek(people, blocks, K - 1) }).toEqual({ seed, found: [] });
      const alone = groupsAlone(people, (own) => own >= K);
      counts.weeks += 1;
      if (attackWeek(people, alone, K - 1).length > 0) counts.naive += 1;
      counts.large += alone.get('team')?.size ?? 0;
      counts.teams += [...(blocks.get('team') ?? [])].filter(([group, block]) => group === block).length;
    }
    // The weeks are worth something: hiding small groups alone would leak, and most large teams are shown.
    expect(counts.naive).toBeGreaterThan(counts.weeks * 0.3);
    expect(counts.teams).toBeGreaterThan(counts.large * 0.65);
  });

  it('are decided in two seconds for 3,000 people in 50 teams, and keep most of them', {
    timeout: 60_000,
  }, () => {
    const people = randomWeek(7, { people: 3_000, teams: 50, models: 12, languages: 30 });
    const before = process.cpuUsage();
    const blocks = decided(people);
    const { user } = process.cpuUsage(before);
    expect(user / 1e6).toBeLessThan(2);
    expect(new Set(blocks?.get('team')?.values()).size).toBeGreaterThan(30);
  });
});
