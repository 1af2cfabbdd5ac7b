import { describe, expect, test } from 'vitest';
import { parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import type { SentRow } from '../../support/trust/adversary.ts';
import {
  type AdversaryWorld,
  adversaryWorld,
  FRUGAL,
  settledWorld,
} from '../../support/trust/settled-world.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

/** The first night, after 25 days of history: all of them are compared each night. */
const FIRST = parseDay('2026-02-08');
const DAY = parseDay('2026-01-20');
const TOOL_CALLS = 'user_daily.tool_calls = tools_daily.tool_calls';

/** A number of one stream, on one day or on all; where there is one row per user, of the first of them. */
interface Told {
  readonly stream: DailyStream;
  readonly field: string;
  readonly value: number;
  readonly day?: UtcDay;
}

function tell({ service }: AdversaryWorld, ...told: readonly Told[]): void {
  service.lie = lieOf(told);
}

function lieOf(told: readonly Told[]) {
  const about = ({ stream, day, ...said }: Told, asked: DailyStream, row: SentRow): SentRow => {
    const isMeant =
      stream === asked && (day ?? row['date']) === row['date'] && (row['user_id'] ?? 'ada') === 'ada';
    return isMeant && said.field in row ? { ...row, [said.field]: said.value } : row;
  };
  return {
    rows: (asked: DailyStream, rows: readonly SentRow[]) =>
      rows.map((row) => told.reduce((now, each) => about(each, asked, now), row)),
  };
}

const toolCalls = ({ rig }: AdversaryWorld) =>
  rig.value<number>('SELECT tool_calls FROM tools_daily WHERE date = ?', DAY).then(Number);

const confirmedOf = ({ rig }: AdversaryWorld, stream: DailyStream, day = DAY) =>
  rig.value('SELECT confirmed FROM export_units WHERE stream = ? AND date = ?', stream, day);

/** What waits because streams contradict each other. */
const waiting = async (world: AdversaryWorld, number: number) =>
  (await world.status(number)).open.find(({ state }) => state === 'figures-disagree');

onDatabase(sqlite, () => {
  describe('a settled number that changes for good in one stream, against the users of its day,', () => {
    test('waits for seven days, is named, and settles unconfirmed; once the first number has been back for five nights, the day is confirmed', {
      tags: 'ci/rare',
    }, async () => {
      const world = await settledWorld(sqlite, { first: FIRST });
      tell(world, { stream: 'tools', field: 'tool_calls', value: 21, day: DAY });
      for (let number = 3; number <= 8; number += 1) {
        expect(await world.night(number)).toBe(0);
        expect(await toolCalls(world)).toBe(20);
        const isConfirmed = number >= 5;
        expect(await waiting(world, number)).toEqual(
          isConfirmed
            ? expect.objectContaining({ count: 1, firstDay: DAY, endsOn: shiftDay(FIRST, 9) })
            : undefined,
        );
      }
      expect(await world.night(9)).toBe(0);
      expect(await toolCalls(world)).toBe(21);
      expect(await confirmedOf(world, 'tools')).toBe('age');
      const { open, neverConfirmed } = await world.status(9);
      expect(open).toEqual([]);
      const named = { firstDay: DAY, identities: [TOOL_CALLS] };
      expect(neverConfirmed).toEqual([
        expect.objectContaining({ ...named, streams: ['tools'] }),
        expect.objectContaining({ ...named, streams: ['users'] }),
      ]);
      world.service.lie = {};
      for (const number of [10, 11, 12, 13]) expect(await world.night(number)).toBe(5);
      expect(await world.night(14)).toBe(0);
      expect(await toolCalls(world)).toBe(20);
      expect((await world.status(14)).neverConfirmed).toEqual([]);
    });

    test('is stored together with the users if these follow later, and the day stays confirmed', {
      tags: 'ci/variant',
    }, async () => {
      const world = await settledWorld(sqlite, { first: FIRST });
      const tools = { stream: 'tools', field: 'tool_calls', value: 21, day: DAY } as const;
      tell(world, tools);
      for (const number of [3, 4, 5, 6]) expect(await world.night(number)).toBe(0);
      tell(world, tools, { stream: 'users', field: 'tool_calls', value: 6, day: DAY });
      for (const number of [7, 8]) {
        expect(await world.night(number)).toBe(0);
        expect(await toolCalls(world)).toBe(20);
      }
      expect(await world.night(9)).toBe(0);
      expect(await toolCalls(world)).toBe(21);
      expect([await confirmedOf(world, 'tools'), await confirmedOf(world, 'users')]).toEqual([
        'data',
        'data',
      ]);
      expect(await world.status(9)).toMatchObject({ open: [], neverConfirmed: [] });
    });
  });

  describe('a day that was wrong in one stream from the first look on', () => {
    test('waits for seven days while the others settle after three looks', { tags: 'ci/rare' }, async () => {
      const world = await adversaryWorld(sqlite, { first: FIRST });
      tell(world, { stream: 'tools', field: 'tool_calls', value: 21, day: DAY });
      for (const number of [0, 1, 2]) expect(await world.night(number)).toBe(0);
      expect(await confirmedOf(world, 'tools')).toBeNull();
      expect(await confirmedOf(world, 'tools', shiftDay(DAY, 1))).toBe('data');
      // Both sides wait: either may be wrong.
      expect(await waiting(world, 2)).toMatchObject({ count: 2, firstDay: DAY, endsOn: shiftDay(FIRST, 6) });
      for (const number of [3, 4, 5, 6]) expect(await world.night(number)).toBe(0);
      expect(await confirmedOf(world, 'tools')).toBe('age');
    });
  });

  test('a settled day stays settled when another stream begins to contradict it: no single answer changes it', {
    tags: 'ci/rare',
  }, async () => {
    const world = await adversaryWorld(sqlite, { first: FIRST });
    const callsOfAda = () =>
      world.rig
        .value("SELECT tool_calls FROM user_daily WHERE date = ? AND user_id = 'ada'", DAY)
        .then(Number);
    // The looks at the tools begin a night later, so they settle a night later.
    tell(world, { stream: 'tools', field: 'autonomy_ratio_p50', value: 1.5, day: DAY });
    expect(await world.night(0)).toBe(0);
    tell(world);
    for (const number of [1, 2]) expect(await world.night(number)).toBe(0);
    expect([await confirmedOf(world, 'users'), await confirmedOf(world, 'tools')]).toEqual(['data', null]);
    const tools = { stream: 'tools', field: 'tool_calls', value: 21, day: DAY } as const;
    tell(world, tools);
    expect(await world.night(3)).toBe(0);
    expect(await confirmedOf(world, 'users')).toBe('age');
    const users = { stream: 'users', field: 'tool_calls', value: 9, day: DAY } as const;
    tell(world, tools, users);
    expect(await world.night(4)).toBe(0);
    expect(await callsOfAda()).toBe(5);
    tell(world, tools, { ...users, value: 6 });
    for (const number of [5, 6, 7]) expect(await world.night(number)).toBe(0);
    expect(await callsOfAda()).toBe(6);
    expect([await confirmedOf(world, 'users'), await confirmedOf(world, 'tools')]).toEqual(['data', 'data']);
    expect(await world.status(7)).toMatchObject({ open: [], neverConfirmed: [] });
  });

  describe('an organization in which the numbers never add up', () => {
    test('settles after three looks, and a change of them waits for nothing', async () => {
      const always = { stream: 'tools', field: 'tool_calls', value: 23 } as const;
      const world = await settledWorld(sqlite, { first: FIRST, lie: lieOf([always]) });
      expect(await confirmedOf(world, 'tools')).toBe('data');
      tell(world, always, { ...always, value: 24, day: DAY });
      for (const number of [3, 4]) expect(await world.night(number, FRUGAL)).toBe(0);
      expect(await toolCalls(world)).toBe(23);
      expect(await world.night(5, FRUGAL)).toBe(0);
      expect(await toolCalls(world)).toBe(24);
      expect(await confirmedOf(world, 'tools')).toBe('data');
      expect((await world.status(5)).neverConfirmed).toEqual([]);
    });

    test('because it counts other active users than it lists, it is held up in its first week only, and stays named', {
      tags: 'ci/variant',
    }, async () => {
      const world = await adversaryWorld(sqlite, { first: FIRST });
      tell(
        world,
        { stream: 'activity', field: 'daily_active_users', value: 5 },
        { stream: 'activity', field: 'weekly_active_users', value: 5 },
        { stream: 'activity', field: 'monthly_active_users', value: 5 },
      );
      for (let number = 0; number <= 8; number += 1) {
        expect(await world.night(number)).toBe(0);
        if (number === 5) expect(await confirmedOf(world, 'users')).toBeNull();
      }
      expect(await confirmedOf(world, 'users')).toBe('age');
      expect(await confirmedOf(world, 'users', shiftDay(FIRST, 5))).toBe('age');
      expect(await confirmedOf(world, 'tools', shiftDay(FIRST, 5))).toBe('data');
      const { open, neverConfirmed } = await world.status(8);
      expect(open).toEqual([]);
      expect(neverConfirmed.map(({ streams }) => streams)).toEqual([['activity'], ['users']]);
    });
  });
});
