import { describe, expect, test } from 'vitest';
import { expectExactCopy } from '../support/exact-copy.ts';
import { CONTENT_QUIRKS, WAY_QUIRKS } from '../support/legal-quirks.ts';
import { createRig } from '../support/rig.ts';

describe('a run copies exactly what a server answers', () => {
  for (const [name, quirks] of Object.entries({ ...CONTENT_QUIRKS, ...WAY_QUIRKS })) {
    test(`a server ${name}`, async () => {
      const rig = await createRig({ quirks, users: 25, reports: 15 });
      const { report } = await rig.run();
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, unitsLeftOut: 0, quarantined: 0 });
      expect(report.unitsDone).toBe(27 * 5 + 1);
      await expectExactCopy(rig);
    });
  }
});
