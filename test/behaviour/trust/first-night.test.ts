// @module-tag ci/again

import { expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { isGrouped, type SentRow } from '../../support/trust/adversary.ts';
import { adversaryWorld, FRUGAL } from '../../support/trust/settled-world.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const FIRST = parseDay('2026-03-20');

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
      const units = `SELECT COUNT(*) FROM export_units WHERE stream = '${wrong}' AND settled_at IS NOT NULL`;
      const settled = () => world.rig.value<number>(units).then(Number);
      world.service.lie = {
        refuses: isGrouped,
        rows: (stream, rows) => (stream === wrong ? rows.map(change) : rows),
      };
      await world.night(0, FRUGAL);
      expect(await wrongDays()).toBeGreaterThan(60);
      expect(await settled()).toBe(0);
      world.service.lie = { refuses: isGrouped };
      for (const number of [1, 2, 3]) await world.night(number, FRUGAL);
      expect(await wrongDays()).toBe(0);
      expect(await settled()).toBeGreaterThan(60);
    },
  );
});
