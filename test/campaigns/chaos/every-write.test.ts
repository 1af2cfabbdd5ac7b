// @module-tag campaign/chaos

import { describe, expect, test } from 'vitest';
import { METHOD, pointsOf, runKilledAt } from '../../support/chaos/run-and-kill.ts';
import { firstRun, largeRun, restatingRun, type Scene } from '../../support/chaos/scenes.ts';
import { thirdLooks } from '../../support/chaos/third-looks.ts';
import { seeded } from '../../support/random/seed.ts';
import { killsMax, printProgress, spread } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';

/** Each with the kills that the suite has time for on SQLite and on PostgreSQL, and those of the campaign at most. */
const SCENES: readonly [
  name: string,
  scene: (database: Database) => Promise<Scene>,
  few: Readonly<Record<string, number>>,
  most: number,
][] = [
  ['the first run', firstRun, { SQLite: 3, PostgreSQL: 1 }, Number.POSITIVE_INFINITY],
  ['a run that restates', restatingRun, { SQLite: 2 }, Number.POSITIVE_INFINITY],
  ['a run of third looks', (database) => thirdLooks(database, 1), { SQLite: 2 }, Number.POSITIVE_INFINITY],
  ['a run of third looks at a mass', (database) => thirdLooks(database, 11), {}, 150],
  ['a large run', largeRun, { SQLite: 1 }, 150],
];

onEachDatabase((database) => {
  describe('X1: killed at any of its writes and syncs', () => {
    for (const [name, makeScene, few, most] of SCENES) {
      if (killsMax(1, few[database.name] ?? 0) === 0) continue;
      test(`${name} leaves whole units, and the next one ends with the undisturbed content`, async () => {
        const scene = await makeScene(database);
        await scene.reset();
        const all = await pointsOf(scene);
        await scene.expectDone();
        const max = killsMax(Math.min(all.length, most), few[database.name] ?? 0);
        const points = spread(all, max, seeded(`${database.name}, ${name}`));
        let kills = 0;
        for (const [index, point] of points.entries()) {
          if (index % 50 === 0)
            printProgress(`${database.name}, ${name}: ${index} of ${points.length} points`);
          await scene.reset();
          const { isKilled, code, said } = await runKilledAt(scene, point);
          // Some calls depend on the order of responses, so the last of them may not occur.
          if (isKilled) kills += 1;
          else expect(code, said).toBe(scene.exitCode);
          await scene.expectWhole();
          await scene.finish();
        }
        countUp('kill points', `at writes on ${database.name} ${METHOD}`, kills);
        expect(kills).toBeGreaterThanOrEqual(Math.floor(points.length / 2));
      });
    }
  });
});
