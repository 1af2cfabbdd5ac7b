// @module-tag campaign/chaos

import { describe, expect, test } from 'vitest';
import { type Files, loadScene } from '../../support/chaos/load-scenes.ts';
import { METHOD, pointsOf, runKilledAt } from '../../support/chaos/run-and-kill.ts';
import { seeded } from '../../support/random/seed.ts';
import { killsMax, spread } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const people: Files = (users) => ({
  before: ['user_id,team,valid_from', ...users.map((user) => `${user},Red,2026-01-14`)],
  // Half of them move, one leaves, and one arrives.
  after: [
    'user_id,team,valid_from',
    ...users.slice(1).map((user, index) => `${user},${index % 2 === 0 ? 'Red' : 'Blue'},2026-01-14`),
    'someone-new,Blue,2026-01-16',
  ],
});

const prices: Files = () => ({
  before: ['valid_from,valid_to,currency,price_per_million', '2026-01-14,,USD,3'],
  after: [
    'valid_from,valid_to,currency,price_per_million',
    '2026-01-14,2026-01-16,USD,3',
    '2026-01-17,,USD,4.5',
  ],
});

const budgets: Files = () => ({
  before: ['month,team,amount,currency', '2026-01,Red,100,USD', '2026-01,Blue,80,USD'],
  after: ['month,team,amount,currency', '2026-01,Red,120,USD', '2026-02,Green,10,USD'],
});

/** Each with the kills that the suite has time for on SQLite and on PostgreSQL. */
const LOADS: readonly (readonly [
  command: readonly [string, string],
  files: Files,
  few: Readonly<Record<string, number>>,
])[] = [
  [['people', 'load'], people, { SQLite: 2, PostgreSQL: 1 }],
  [['prices', 'load'], prices, { SQLite: 1 }],
  [['budget', 'load'], budgets, { SQLite: 1 }],
];

onEachDatabase((database) => {
  describe('a load killed at any of its writes and syncs', () => {
    for (const [command, files, few] of LOADS) {
      if (killsMax(1, few[database.name] ?? 0) === 0) continue;
      const name = command.join(' ');
      test(`${name}: leaves the rows of the old file or of the new one, and the next load ends with the new one`, async () => {
        const scene = await loadScene(database, command, files);
        await scene.reset();
        const all = await pointsOf(scene);
        expect(await scene.isDone()).toBe(true);
        const max = killsMax(all.length, few[database.name] ?? 0);
        const points = spread(all, max, seeded(`${database.name}, ${name}`));
        let kills = 0;
        for (const point of points) {
          await scene.reset();
          const { isKilled, code, said } = await runKilledAt(scene, point);
          if (isKilled) kills += 1;
          else expect(code, said).toBe(0);
          const isDone = await scene.isDone();
          if (!isKilled) expect(isDone).toBe(true);
          await scene.finish();
        }
        countUp('kill points', `in loads on ${database.name} ${METHOD}`, kills);
        // A process also writes to wake its own threads, and how often that is depends on the load of the machine.
        expect(kills).toBeGreaterThanOrEqual(Math.floor(points.length / 4));
      });
    }
  });
});
