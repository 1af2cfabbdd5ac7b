// @module-tag campaign/lies

import { describe, expect, test } from 'vitest';
import { History } from '../../support/model/history.ts';
import { MUTATIONS } from '../../support/model/mutations.ts';
import { randomWorld } from '../../support/model/random-world.ts';
import { seeded } from '../../support/random/seed.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';

/** For each mutation of the rules, a world in which it causes a fault. This shows that the test can fail. */
const REVEALING_SEEDS: Readonly<Record<keyof typeof MUTATIONS, number>> = {
  'a difference is believed at the first look': 2,
  'nothing is watched': 2,
  'no day is reopened': 2,
  'no loss is doubted': 7,
  'a loss is accepted at once': 7,
  'users may be fewer than the active ones': 51,
  'a unit settles without the others of its day': 1,
  'a commit leaves the other units of its day alone': 2,
  'a difference that changed no row never counts again': 20,
  'a look that fails for good holds the watch up': 4148,
};

/**
 * Applies the rules of `src/judge` and of the ledger to whole lives of warehouses. Data is late, partial, restated and
 * deleted; the service lies in nine ways for 1 to 20 nights; requests fail, records are malformed, nights are missed; runs
 * are killed between any two transactions, and use `--force` and `--accept-loss`.
 *
 * 35 honest nights after the last lie, every settled unit equals the data of the service, and every other unit is young or
 * contradicts itself. In half of the worlds, a night compares only one light stretch of older days; the only exceptions are
 * units that no run has compared there: users, and tokens if the sums by model have not changed or are not available. Until
 * then, one lying night changes no settled unit, no loss is stored before it was found on three days, and no unit settles as
 * confirmed while other streams of its day contradict it.
 */
test('the rules of trust keep a warehouse correct although the service lies', () => {
  const random = seeded('worlds that lie');
  const worlds = answersMax(5_000, 8);
  for (let number = 1; number <= worlds; number += 1) {
    const seed = Math.floor(random() * 2 ** 31);
    expect(new History(randomWorld(seed)).faults, `world ${seed}`).toEqual([]);
    if (number % 500 === 0) process.stderr.write(`worlds that lie: ${number} of ${worlds}\n`);
  }
  countUp('worlds that lie', 'in the model', worlds);
});

/** Several mutations share a world, which lives under the real rules once. */
const faultsOfWorlds = new Map<number, readonly string[]>();
function faultsByTheRules(seed: number): readonly string[] {
  const faults = faultsOfWorlds.get(seed) ?? new History(randomWorld(seed)).faults;
  faultsOfWorlds.set(seed, faults);
  return faults;
}

describe('the same worlds fail if', () => {
  test.for(Object.entries(MUTATIONS))('%s', ([name, rules]) => {
    const seed = Object.entries(REVEALING_SEEDS).find(([fault]) => fault === name)?.[1] ?? 0;
    expect(faultsByTheRules(seed)).toEqual([]);
    expect(new History(randomWorld(seed), rules, { untilFault: true }).faults).not.toEqual([]);
  });
});
