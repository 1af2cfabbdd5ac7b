// @module-tag campaign/verify
import { expect, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { RevisionKind } from '../../../src/emulator/revise.ts';
import { CONTENT_QUIRKS, WAY_QUIRKS } from '../../support/emulator/legal-quirks.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { describeFindings, verify } from '../../support/verify/run-verify.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const isLongCampaign = process.env['DAYWALK_CHAOS'] === '1';
const TODAY = parseDay('2026-01-24');
const DAYS = 10;

const OF_A_DAY: readonly RevisionKind[] = [
  'restate',
  'vanish-users',
  'add-users',
  'vanish-models',
  'vanish-languages',
  'empty',
];
const OF_REPORTS: readonly RevisionKind[] = ['add-reports', 'change-report', 'delete-report'];

async function expectNothing(rig: Rig, name: string): Promise<void> {
  const { findings, damages, comparisons, units } = await verify(rig, { againstApi: 3, seed: 1, now: TODAY });
  expect(describeFindings(findings), name).toEqual([]);
  expect(damages, name).toEqual([]);
  expect(units, name).toBe(5 * DAYS + 1);
  expect(comparisons, name).toBeGreaterThan(5 * DAYS);
}

onEachDatabase((database) => {
  // The stored content is the same for these quirks and databases, which other tests cover.
  const quirks = isLongCampaign ? { ...CONTENT_QUIRKS, ...WAY_QUIRKS } : CONTENT_QUIRKS;
  const all = Object.entries(quirks);
  const oddities = isLongCampaign || database === sqlite ? all : all.slice(0, 1);

  testVariants(oddities)('nothing is found in the data of a service %s', async (name, quirks) => {
    const rig = await createRig({ today: TODAY, users: 7, reports: 3, quirks }, { database });
    expect((await rig.run({ now: TODAY })).report.exitCode).toBe(0);
    await expectNothing(rig, name);
  });

  test('nothing is found after revisions of every kind', { tags: 'ci/variant' }, async () => {
    const rig = await createRig({ today: TODAY, users: 12, reports: 5 }, { database });
    await rig.run({ now: TODAY });
    const kinds = [...OF_A_DAY, ...OF_REPORTS];
    for (const kind of isLongCampaign || database === sqlite ? kinds : kinds.slice(-2)) {
      const day = OF_A_DAY.includes(kind) ? { day: shiftDay(TODAY, -2), count: 2 } : {};
      rig.emulator.revise({ kind, ...day });
      const { report: first } = await rig.run({ now: TODAY, force: true });
      const isDoubted = first.unitsDoubted > 0;
      // A report that is missing needs a second pass on another day, or somebody who accepts that.
      const second =
        isDoubted || kind === 'delete-report'
          ? (await rig.run({ now: TODAY, force: true, acceptLoss: true })).report
          : first;
      // A day that goes empty is doubted before it is believed.
      expect(first.exitCode, kind).toBe(isDoubted ? 5 : 0);
      expect(isDoubted, kind).toBe(kind === 'empty');
      expect(second, kind).toMatchObject({ exitCode: 0, unitsDoubted: 0 });
      expect(first.rowsWritten + second.rowsWritten, kind).toBeGreaterThan(0);
      await expectNothing(rig, kind);
    }
  });
});
