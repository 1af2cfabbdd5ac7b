// @module-tag campaign/rehearsal

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seeded } from '../../support/random/seed.ts';
import { CHECKS, faultsOf } from '../../support/rehearsal/judge.ts';
import { buildNextVersion } from '../../support/rehearsal/next-version.ts';
import { drawPlan, planText } from '../../support/rehearsal/plan.ts';
import { rehearse } from '../../support/rehearsal/rehearse.ts';
import { FAULTS } from '../../support/rehearsal/spoil.ts';
import { nightsMax } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const NIGHTS = nightsMax(90);

const print = (text: string) => void process.stderr.write(`${text}\n`);

let folder = '';
let nextMain = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'daywalk-next-'));
  nextMain = await buildNextVersion(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

onEachDatabase((database) => {
  test(`${NIGHTS} nights with a kill each, revoked keys, outages, late batches, restatements, losses, an erasure and an upgrade end with the digests of an undisturbed export with the same erasure, in the warehouse and in a replay, and with the planned incidents only`, async () => {
    const random = seeded(`rehearsal on ${database.name}`);
    const plan = drawPlan(NIGHTS, random);
    print(planText(plan));
    const rehearsed = await rehearse({ database, plan, random, nextMain, progress: print });
    expect(await faultsOf(rehearsed)).toEqual([]);
    expect(rehearsed.kills).toHaveLength(NIGHTS);
    countUp('rehearsed nights', `on ${database.name}`, NIGHTS);

    // What would not be found would not be shown either.
    for (const { what, check, finds, plant } of FAULTS)
      expect(await CHECKS[check](await plant(rehearsed)), what).toContainEqual(expect.stringMatching(finds));
  });
});
