// @module-tag campaign/chaos

import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runProcess } from '../../support/chaos/run-and-kill.ts';
import { firstRun, type Scene } from '../../support/chaos/scenes.ts';
import { badDay } from '../../support/chaos/unreliable-service.ts';
import { SEED, seeded } from '../../support/random/seed.ts';
import { killsMax, printProgress } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

/** Runs that a campaign begins at most, for each kill that it is to reach. */
const ROUNDS_PER_KILL = 8;
/** Share of the kills that come before a run has opened its warehouse, or while it makes its tables. */
const EARLY = 0.15;
/** How long that takes at most. */
const START_MS_MAX = 400;

onEachDatabase((database) => {
  test('X2: runs killed at random instants, with faults of the service on top, leave whole units and end with the undisturbed content', async () => {
    const random = seeded(`random instants on ${database.name}`);
    const scene = await firstRun(database);
    const max = killsMax(500, 2);
    let kills = 0;
    let complete = 0;
    await scene.reset();
    /** How long a run works that nothing disturbs, which only the machine knows. */
    let workMs = await workOf(scene);
    await scene.reset();
    for (let round = 0; kills < max && round < max * ROUNDS_PER_KILL; round += 1) {
      if (round % 50 === 0)
        printProgress(`${database.name}: ${kills} of ${max} kills, ${complete} runs done`);
      scene.emulator.setRules(random() < 0.6 ? badDay(SEED + round) : []);
      const isEarly = random() < EARLY;
      const killAfterMs = random() * (isEarly ? START_MS_MAX : workMs);
      const { isKilled, code, said } = await runProcess(scene, [], ({ kill, begun }) => {
        void (isEarly ? Promise.resolve() : begun).then(() => delay(killAfterMs)).then(kill);
      });
      await scene.expectWhole();
      if (isKilled) {
        kills += 1;
        // Sometimes an undisturbed run completes the warehouse at once; otherwise the next run, which is killed too,
        // continues.
        if (random() < 0.15) {
          scene.emulator.setRules([]);
          await scene.finish();
          await scene.reset();
        }
        continue;
      }
      // Faults may outlast the attempts of a request; nothing else may end a run otherwise than well.
      expect([0, 4], said).toContain(code);
      if (code === 0) {
        await scene.expectDone();
        await scene.reset();
        complete += 1;
        // The machine may be busier than it was, or less.
        workMs = (3 * workMs + (await workOf(scene))) / 4;
        await scene.reset();
      }
    }
    scene.emulator.setRules([]);
    await scene.finish();
    countUp('kill points', `at random instants on ${database.name}`, kills);
    expect(kills).toBe(max);
  });
});

/** Milliseconds from the beginning of a first run's work to its end. */
async function workOf(scene: Scene): Promise<number> {
  scene.emulator.setRules([]);
  let begunAt = performance.now();
  await runProcess(scene, [], ({ begun }) => {
    void begun.then(() => {
      begunAt = performance.now();
    });
  });
  return performance.now() - begunAt;
}
