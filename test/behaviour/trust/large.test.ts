import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import type { SentRow } from '../../support/trust/adversary.ts';
import { settledWorld } from '../../support/trust/settled-world.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** So many that one run cannot hold the users of 31 days in memory. */
const USERS = Array.from({ length: 4_000 }, (_, index) => `user-${String(index).padStart(4, '0')}`);
const PAGES = USERS.length / 100;
const FIRST = parseDay('2026-01-30');
const [CHANGED, LACKING] = [parseDay('2026-01-18'), parseDay('2026-01-22')];
/** The nights from the first one on. */
const LIE_BEGINS = 3;
const WEEK = 7;

onDatabase(sqlite, () => {
  test('of a large organization, all users of the recent days are compared page by page each week', {
    tags: 'ci/rare',
  }, async () => {
    const world = await settledWorld(sqlite, { first: FIRST, users: USERS });
    const lie = (row: SentRow): readonly SentRow[] => {
      if (row['date'] === CHANGED && row['user_id'] === 'user-1234') return [{ ...row, messages: 11 }];
      return row['date'] === LACKING && row['user_id'] === 'user-2345' ? [] : [row];
    };
    // No order of the pages is promised.
    world.service.lie = {
      rows: (stream, rows) => (stream === 'users' ? rows.flatMap(lie).toReversed() : rows),
    };
    const nights = [];
    for (let number = LIE_BEGINS; number <= WEEK + 2; number += 1) {
      await world.night(number);
      const [open] = (await world.status(number)).open;
      const requests = Number(
        await world.rig.value('SELECT requests FROM export_runs ORDER BY started_at DESC LIMIT 1'),
      );
      nights.push({ open, requests });
    }
    const [usual, walked, then, last] = [nights[0], ...nights.slice(WEEK - LIE_BEGINS)];
    expect(usual?.open).toBeUndefined();
    expect(nights[WEEK - LIE_BEGINS - 1]?.open).toBeUndefined();
    const seen = { state: 'seen-otherwise', firstDay: CHANGED, lastDay: LACKING };
    expect([walked?.open, then?.open]).toMatchObject([seen, seen]);
    // Every page once, for all days together.
    expect(Number(walked?.requests) - Number(usual?.requests)).toBeLessThan(1.5 * PAGES);
    // The third look: what changed is stored, and a day that has fewer users than its count waits.
    expect(last?.open).toMatchObject({ state: 'figures-disagree', firstDay: LACKING, lastDay: LACKING });
    expect(
      await world.rig.column('SELECT CAST(date AS TEXT) AS day FROM user_daily WHERE messages = 11'),
    ).toEqual([CHANGED]);
  });

  test('of a large organization, a stretch of older history is compared page by page in one night', {
    tags: 'ci/rare',
  }, async () => {
    const world = await settledWorld(sqlite, { first: parseDay('2026-02-16'), users: USERS });
    const day = parseDay('2026-01-15');
    world.service.lie = {
      rows: (stream, rows) =>
        rows.map((row) =>
          stream === 'users' && row['date'] === day && row['user_id'] === 'user-3456'
            ? { ...row, messages: 11 }
            : row,
        ),
    };
    // As many requests as all streams of a stretch take.
    await world.night(LIE_BEGINS, { watchRequests: 200 });
    const { open } = await world.status(LIE_BEGINS);
    expect(open).toMatchObject([{ state: 'seen-otherwise', firstDay: day, lastDay: day }]);
  });
});
