// @module-tag ci/again

import { expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import type { SentRow } from '../../support/trust/adversary.ts';
import { adversaryWorld, FRUGAL, settledWorld } from '../../support/trust/settled-world.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const FIRST = parseDay('2026-03-20');
const OLD = parseDay('2026-02-05');
const THREE_DAYS = ['2026-03-10', '2026-03-11', '2026-03-12'];

/** As an answer of tokens says it: the sum of the day, and the models that it is made of. */
function withOtherTokens(row: SentRow): SentRow {
  const models = Array.isArray(row['by_model']) ? row['by_model'] : [];
  const more = { billable_tokens: 777 };
  return { ...row, ...more, by_model: models.map((model: object) => ({ ...model, ...more })) };
}

onEachDatabase((database) => {
  it.for([
    ['users', (row: SentRow): SentRow => ({ ...row, messages: 777 }), 'user_daily', 'messages'],
    ['tokens', withOtherTokens, 'tokens_daily', 'billable_tokens'],
  ] as const)(
    'a first sync of two months that is answered wrongly on one night about %s settles right, also without groups',
    async ([wrong, change, table, column]) => {
      const world = await adversaryWorld(database, { first: FIRST });
      const wrongDays = () =>
        world.rig
          .value<number>(`SELECT COUNT(DISTINCT date) FROM ${table} WHERE ${column} = 777`)
          .then(Number);
      world.service.lie = {
        refusesGroups: true,
        rows: (stream, rows) => (stream === wrong ? rows.map(change) : rows),
      };
      await world.night(0, FRUGAL);
      expect(await wrongDays()).toBeGreaterThan(60);
      world.service.lie = { refusesGroups: true };
      for (const number of [1, 2, 3]) await world.night(number, FRUGAL);
      expect(await wrongDays()).toBe(0);
      const settled = `SELECT COUNT(*) FROM export_units WHERE stream = '${wrong}' AND settled_at IS NOT NULL`;
      expect(Number(await world.rig.value(settled))).toBeGreaterThan(60);
    },
  );

  it('a service that alternates about one settled day is named, and changes nothing', async () => {
    const world = await settledWorld(database, { first: FIRST });
    const states = new Set<string>();
    for (let number = 3; number <= 10; number += 1) {
      const isWrong = number % 2 === 1;
      world.service.lie = isWrong
        ? {
            rows: (stream, rows) =>
              rows.map((row) =>
                stream === 'users' && row['date'] === OLD ? { ...row, messages: 777 } : row,
              ),
          }
        : {};
      await world.night(number, FRUGAL);
      for (const { state } of (await world.status(number)).open) states.add(state);
      expect(Number(await world.rig.value('SELECT COUNT(*) FROM user_daily WHERE messages = 777'))).toBe(0);
    }
    expect([...states]).toContain('unstable');
  });

  it.for([3, 4, 5])(
    'a service that keeps each of two answers for %d nights is named when the first one is back',
    async (each) => {
      const world = await settledWorld(database, { first: FIRST });
      const stored = () =>
        world.rig.column<number>("SELECT autonomy_ratio_p50 FROM tools_daily WHERE date >= '2026-03-10'");
      const night = async (number: number, isWrong: boolean) => {
        const changed = (row: SentRow) =>
          isWrong && THREE_DAYS.includes(String(row['date'])) ? { ...row, autonomy_ratio_p50: 0.5 } : row;
        world.service.lie = {
          rows: (stream, rows) => (stream === 'tools' ? rows.map(changed) : rows),
        };
        return world.night(number, FRUGAL);
      };
      // A correction that lasts is stored, and no alarm.
      for (let number = 3; number < 3 + each; number += 1) expect(await night(number, true)).toBe(0);
      expect(await stored()).toContain(0.5);
      const back = 3 + each;
      for (let number = back; number < back + each; number += 1) expect(await night(number, false)).toBe(5);
      expect((await world.status(back + each - 1)).open.map(({ state }) => state)).toContain('flapping');
      for (let number = back + each; number < back + each + 3; number += 1)
        expect(await night(number, true)).toBe(5);
    },
  );
});
