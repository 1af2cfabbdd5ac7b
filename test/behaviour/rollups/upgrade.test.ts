import { expect, it } from 'vitest';
import {
  expectedRollups,
  expectLanguages,
  storedRollups,
  storedUserDays,
} from '../../support/rollups/expected.ts';
import { expectTeamDays } from '../../support/rollups/team-days.ts';
import { restored } from '../../support/upgrade/kept-warehouses.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  it('a warehouse of an earlier version has its rollups as soon as it is opened', async () => {
    const { place } = await open(await restored('0.1.0', database), { create: false });
    const expected = expectedRollups(await storedUserDays(place));
    expect(expected.users.length).toBeGreaterThan(0);
    expect(await storedRollups(place)).toEqual(expected);
    expect(await place.query('SELECT * FROM team_daily')).not.toEqual([]);
    expect(await place.query('SELECT * FROM team_model_daily')).not.toEqual([]);
    expect(await place.query('SELECT * FROM user_monthly_languages')).not.toEqual([]);
    await expectLanguages(place, new Set());
    await expectTeamDays(place, { teams: new Set(), models: new Set() });
  });
});
