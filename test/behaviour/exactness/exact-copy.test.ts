import { describe, expect } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { CONTENT_QUIRKS, WAY_QUIRKS } from '../../support/emulator/legal-quirks.ts';
import { expectExactCopy } from '../../support/rig/exact-copy.ts';
import { createRig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';

/** After the days on which some servers have no activity: few days prove what many would. */
const today = parseDay('2026-01-24');

describe('a run stores exactly what a server answers', () => {
  testVariants(Object.entries({ ...CONTENT_QUIRKS, ...WAY_QUIRKS }))('a server %s', async (_, quirks) => {
    const rig = await createRig({ quirks, users: 8, reports: 5, today });
    const { report } = await rig.run();
    expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, unitsLeftOut: 0, quarantined: 0 });
    expect(report.unitsDone).toBe(10 * 5 + 1);
    await expectExactCopy(rig);
  });
});
