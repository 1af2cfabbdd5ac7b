// @module-tag database-specific

import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { createRig } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  test('a database that breaks in a run leaves a line in the log with what it said', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createRig({ today: parseDay('2026-01-20'), users: 3, reports: 0 }, { database });
    await rig.run({ now: parseDay('2026-01-16') });
    await rig.place.execute('ALTER TABLE user_daily RENAME TO gone');
    const { report, events } = await rig.run();
    expect(report.exitCode).toBe(6);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'warning', message: expect.stringContaining('user_daily') }),
    );
  });
});
