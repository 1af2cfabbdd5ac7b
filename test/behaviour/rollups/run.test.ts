import { expect, it } from 'vitest';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { expectedRollups, storedRollups, storedUserDays } from '../../support/rollups/expected.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  it('a run leaves rollups that equal a plain computation from the rows', async () => {
    const rig = await exportedRig({ users: 20, reports: 0 }, { database });
    const expected = expectedRollups(await storedUserDays(rig.place));
    expect(expected.user_weekly.length).toBeGreaterThan(30);
    expect(await storedRollups(rig.place)).toEqual(expected);
  });
});
