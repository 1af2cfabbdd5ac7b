import { expect, it } from 'vitest';
import { readStatus } from '../../../jobs/status.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import {
  expectedRollups,
  expectLanguages,
  storedRollups,
  storedUserDays,
} from '../../support/rollups/expected.ts';
import { expectTeamDays } from '../../support/rollups/team-days.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  it('a run leaves rollups that equal a plain computation from the rows', async () => {
    const rig = await exportedRig({ users: 20, reports: 0 }, { database });
    const expected = expectedRollups(await storedUserDays(rig.place));
    expect(expected.user_weekly.length).toBeGreaterThan(30);
    expect(await storedRollups(rig.place)).toEqual(expected);
    expect((await rig.place.query('SELECT * FROM team_model_daily')).length).toBeGreaterThan(30);
    expect(await rig.place.query('SELECT * FROM user_monthly_languages')).not.toEqual([]);
    await expectLanguages(rig.place, new Set());
    await expectTeamDays(rig.place, { teams: new Set(), models: new Set() });
  });

  it('status counts the days that the rollups lack, until the next run adds them', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await exportedRig({ users: 5, reports: 0 }, { database });
    const clock = systemClock(new Date('2026-02-10T09:00:00Z'));
    const lacking = async () => (await readStatus(rig.settings, { clock })).organizations[0]?.staleRollupDays;
    expect(await lacking()).toBe(0);
    // What a kill between the last day and the rollups leaves.
    await rig.place.execute("DELETE FROM rollup_marks WHERE date IN ('2026-02-03', '2026-02-04')");
    await rig.place.execute("DELETE FROM user_weekly WHERE week_start = '2026-02-02'");
    expect(await lacking()).toBe(2);
    await rig.run();
    expect(await lacking()).toBe(0);
    expect(await storedRollups(rig.place)).toEqual(expectedRollups(await storedUserDays(rig.place)));
  });
});
