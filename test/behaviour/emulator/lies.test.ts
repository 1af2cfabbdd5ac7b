import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/api/client.ts';
import { READINESS_PATH } from '../../../src/contract/paths.ts';
import { parseDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS, STREAMS, type Stream } from '../../../src/core/stream.ts';
import { IMPOSSIBLE, type Lies, parseQuirks } from '../../../src/emulator/quirks.ts';
import { type Json, type Probe, pathOf, probe, sumOf, TODAY } from '../../support/emulator/probe.ts';

const DAY = parseDay('2026-02-03');
const NEXT = parseDay('2026-02-04');
const WEEK = '2026-02-02..2026-02-08';

async function lying(lies: Lies, users = 40): Promise<Probe> {
  return probe({ users, quirks: { lies } });
}

function idsOf(rows: readonly Json[]): string[] {
  return rows.map((row) => row.user_id);
}

function datesOf(rows: readonly Json[]): string[] {
  return [...new Set(rows.map((row) => row.date))].sort();
}

test('the same request gets the same lie, in any order of requests', async () => {
  const lies: Lies = { someUsers: { share: 0.5 }, ranges: { drop: 'user-days' }, zeroDays: { tools: [DAY] } };
  const [one, two] = [await lying(lies), await lying(lies)];
  const paths = DAILY_STREAMS.flatMap((stream) => [pathOf(stream, DAY), pathOf(stream, WEEK)]);
  const answers = new Map<string, string>();
  for (const path of paths) answers.set(path, (await one.get(path)).text);
  for (const path of paths.toReversed()) expect((await two.get(path)).text).toBe(answers.get(path));
});

describe('otherRange', () => {
  test('meta names another day, with or without rows', async () => {
    const at = await lying({ otherRange: { streams: ['tokens', 'users'] } });
    const { json } = await at.get(pathOf('tokens', DAY));
    expect(json).toMatchObject({ data: [], meta: { start_date: NEXT, end_date: NEXT } });
    expect((await at.get(pathOf('users', WEEK))).json.meta).toMatchObject({
      start_date: '2026-02-03',
      end_date: '2026-02-09',
    });
    expect((await at.get(pathOf('tools', DAY))).json.meta.start_date).toBe(DAY);
    at.emulator.setQuirks({ lies: { otherRange: { shiftDays: -2, rows: 'kept' } } });
    const kept = (await at.get(pathOf('tokens', DAY))).json;
    expect([kept.meta.start_date, datesOf(kept.data)]).toEqual(['2026-02-01', [DAY]]);
  });

  test('it can be limited to some days, to ranges or to single days', async () => {
    const at = await lying({ otherRange: { days: [DAY], asked: 'range' } });
    const startOf = async (days: string) => (await at.get(pathOf('activity', days))).json.meta.start_date;
    expect(await startOf(WEEK)).toBe('2026-02-03');
    expect(await startOf(DAY)).toBe(DAY);
    expect(await startOf('2026-02-10..2026-02-12')).toBe('2026-02-10');
    at.emulator.setQuirks({ lies: { otherRange: { asked: 'day' } } });
    expect(await startOf(WEEK)).toBe('2026-02-02');
    expect(await startOf(DAY)).toBe(NEXT);
  });
});

describe('impossible', () => {
  test('every column with a bound can lie, and the client rejects it', { tags: 'ci/rare' }, async () => {
    const at = await probe({ users: 40, reports: 3, quirks: { cacheFields: true } });
    const { apiKey, url: baseUrl } = at.emulator;
    await using api = createClient({ apiKey, baseUrl, allowPartial: true });
    const week = { startDate: '2026-02-02', endDate: '2026-02-08' };
    const rejectedOf = async (stream: Stream) => {
      if (stream !== 'users' && stream !== 'readiness') return (await api[stream](week)).rejected;
      const rejected = [];
      const pages = stream === 'users' ? api.users(week).pages() : api.readinessReports().pages();
      for await (const page of pages) rejected.push(...page.rejected);
      return rejected;
    };
    for (const stream of STREAMS) expect(await rejectedOf(stream), stream).toEqual([]);
    const silent: string[] = [];
    for (const [column, { table, column: name }] of IMPOSSIBLE) {
      at.emulator.setQuirks({ lies: { impossible: { column } } });
      const rejected = await rejectedOf(table.stream ?? 'users');
      if (rejected.length === 0) silent.push(column);
      for (const { kind, reason } of rejected) {
        expect(kind, column).toBe('impossible');
        expect(reason, column).toMatch(new RegExp(`^${name} is `));
      }
    }
    // The emulator sends only the credits of a user, and all numbers of each model.
    const parts = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'];
    const absent = parts.map((name) => `tokens_daily_by_user.${name}`);
    expect(silent).toEqual(absent);
  });
});

describe('days', () => {
  test('lateDays have no rows in any request, and other days are unchanged', async () => {
    const at = await probe({ users: 40 });
    const honest = await at.rows('activity', NEXT);
    at.emulator.setQuirks({ emptyDays: 'zeros', lies: { lateDays: [DAY] } });
    for (const stream of DAILY_STREAMS) {
      expect((await at.get(pathOf(stream, DAY))).json.data, stream).toEqual([]);
      expect(datesOf(await at.rows(stream, WEEK)), stream).not.toContain(DAY);
    }
    expect(await at.rows('activity', NEXT)).toEqual(honest);
    expect((await at.get(pathOf('users', DAY))).json.meta).toMatchObject({ has_more: false });
  });

  test('lateDays by stream arrive in the order of the switch', async () => {
    const at = await lying({ lateDays: { users: [DAY, NEXT], tokens: [NEXT] } });
    const dates = async () => [
      datesOf(await at.rows('users', `${DAY}..${NEXT}`)),
      datesOf(await at.rows('tokens', `${DAY}..${NEXT}`)),
    ];
    expect(await dates()).toEqual([[], [DAY]]);
    at.emulator.setQuirks({ lies: { lateDays: { users: [DAY] } } });
    expect(await dates()).toEqual([[NEXT], [DAY, NEXT]]);
    at.emulator.setQuirks({ lies: {} });
    expect(await dates()).toEqual([
      [DAY, NEXT],
      [DAY, NEXT],
    ]);
  });

  test('zeroDays keep their rows, with every number 0', async () => {
    const at = await lying({ zeroDays: [DAY] });
    const [tokens] = await at.rows('tokens', DAY);
    expect(tokens).toMatchObject({
      date: DAY,
      billable_tokens: 0,
      input_tokens: 0,
      by_model: [],
      by_user: [],
    });
    const [activity] = await at.rows('activity', DAY);
    expect(activity).toMatchObject({ daily_active_users: 0, weekly_active_users: 0, sessions: 0 });
    const users = await at.rows('users', DAY, 'limit=100');
    expect(users.length).toBeGreaterThan(5);
    expect(sumOf(users, 'billable_tokens') + sumOf(users, 'messages')).toBe(0);
    expect(sumOf(await at.rows('users', NEXT, 'limit=100'), 'messages')).toBeGreaterThan(0);
  });
});

describe('losses', () => {
  test('someUsers keeps a share of the users, the same on every endpoint', async () => {
    const at = await probe({ users: 300 });
    const all = await at.walk(DAY);
    at.emulator.setQuirks({ lies: { someUsers: { share: 1 / 3 } } });
    const some = await at.walk(DAY);
    expect(some.rows.length / all.rows.length).toBeGreaterThan(0.2);
    expect(some.rows.length / all.rows.length).toBeLessThan(0.5);
    expect(idsOf(all.rows)).toEqual(expect.arrayContaining(idsOf(some.rows)));
    const [activity] = await at.rows('activity', DAY);
    expect(activity.daily_active_users).toBe(some.rows.length);
    const [tokens] = await at.rows('tokens', DAY);
    expect(tokens.billable_tokens).toBe(sumOf(some.rows, 'billable_tokens'));
  });

  test('someUsers of one stream and day returns fewer users than daily_active_users', async () => {
    const at = await lying({ someUsers: { share: 0.7, streams: ['users'], days: [DAY] } }, 300);
    const shown = async (day: string) => (await at.walk(day)).rows.length;
    const counted = async (day: string) => (await at.rows('activity', day))[0].daily_active_users;
    expect(await shown(DAY)).toBeLessThan(await counted(DAY));
    expect(await shown(NEXT)).toBe(await counted(NEXT));
  });

  test('noReports empties the readiness list', async () => {
    const at = await lying({ noReports: true });
    expect((await at.get(READINESS_PATH)).json).toEqual({ reports: [] });
  });

  test('rolledBackTo answers with the numbers, days and reports of an earlier day', async () => {
    const at = await probe({ users: 40, quirks: { provisionalDays: 3 } });
    const day = '2026-05-28';
    const path = pathOf('tokens', day);
    at.emulator.setToday(parseDay('2026-05-29'));
    const young = (await at.get(path)).text;
    at.emulator.setToday(parseDay('2026-06-10'));
    const old = (await at.get(path)).text;
    expect(old).not.toBe(young);
    at.emulator.revise({ kind: 'restate', day: parseDay(day) });
    const restated = (await at.get(path)).text;
    expect(restated).not.toBe(old);
    at.emulator.setQuirks({ lies: { rolledBackTo: parseDay('2026-06-10') } });
    expect((await at.get(path)).text).toBe(old);
    at.emulator.setQuirks({ lies: { rolledBackTo: parseDay('2026-05-29') } });
    expect((await at.get(path)).text).toBe(young);
    expect(datesOf(await at.rows('users', '2026-05-27..2026-06-05'))).toEqual(['2026-05-27', day]);
    at.emulator.setQuirks({ lies: { rolledBackTo: parseDay('2026-01-10') } });
    const { reports } = await at.reports();
    expect(reports.length).toBeGreaterThan(0);
    expect(Math.max(...reports.map(({ createdAt }) => createdAt))).toBeLessThan(Date.parse('2026-01-10'));
  });
});

describe('ranges', () => {
  test('the middle days of a range are missing, but each day alone has its rows', async () => {
    const at = await lying({ ranges: { drop: 'middle' } });
    for (const stream of DAILY_STREAMS) {
      expect(datesOf(await at.rows(stream, WEEK)), stream).toEqual(['2026-02-02', '2026-02-08']);
      expect(datesOf(await at.rows(stream, '2026-02-05')), stream).toEqual(['2026-02-05']);
    }
  });

  test('a range has no rows in the named streams', async () => {
    const at = await lying({ ranges: { drop: 'all', streams: ['users', 'tools'] } });
    expect(await at.rows('tools', WEEK)).toEqual([]);
    expect((await at.get(pathOf('users', WEEK))).json).toMatchObject({ data: [], meta: { has_more: false } });
    expect(await at.rows('tokens', WEEK)).toHaveLength(7);
    expect(await at.rows('tools', DAY)).toHaveLength(1);
  });

  test('a range lacks some users, or some days of each user, on pages of any size', async () => {
    const at = await probe({ users: 60 });
    const all = (await at.walk(WEEK)).rows;
    const users = new Set(idsOf(all));
    at.emulator.setQuirks({ lies: { ranges: { drop: 'users' } } });
    const fewer = (await at.walk(WEEK, 'limit=3')).rows;
    expect(new Set(idsOf(fewer)).size).toBeLessThan(users.size);
    expect(fewer).toEqual(all.filter((row) => idsOf(fewer).includes(row.user_id)));
    at.emulator.setQuirks({ lies: { ranges: { drop: 'user-days' } } });
    const trimmed = (await at.walk(WEEK, 'limit=3')).rows;
    expect(trimmed.length).toBeLessThan(all.length);
    expect(new Set(idsOf(trimmed)).size).toBeGreaterThan(new Set(idsOf(fewer)).size);
    expect((await at.walk(DAY)).rows).toEqual(all.filter(({ date }) => date === DAY));
  });
});

describe('paging', () => {
  const meta = async (at: Probe, extra: string) => (await at.get(pathOf('users', DAY, extra))).json.meta;

  test.each([
    ['flag-missing', { has_more: undefined, next_cursor: expect.any(String) }],
    ['flag-null', { has_more: null, next_cursor: expect.any(String) }],
    ['flag-false', { has_more: false, next_cursor: expect.any(String) }],
    ['no-cursor', { has_more: true, next_cursor: undefined }],
    ['cursor-at-end', { has_more: true, next_cursor: expect.any(String) }],
  ] as const)('%s on a page with more', async (says, expected) => {
    const at = await lying({ paging: { says } });
    const { has_more, next_cursor } = await meta(at, 'limit=5');
    expect({ has_more, next_cursor }).toEqual(expected);
  });

  test('cursor-at-end returns a cursor that leads to an empty page', async () => {
    const at = await lying({ paging: { says: 'cursor-at-end' } });
    const last = await meta(at, 'limit=100');
    expect(last).toMatchObject({ has_more: false, next_cursor: expect.any(String) });
    const behind = (await at.get(pathOf('users', DAY, `limit=100&cursor=${last.next_cursor}`))).json;
    expect(behind).toMatchObject({ data: [], meta: { has_more: false } });
  });

  test('samePage repeats the rows of the first page', async () => {
    const at = await lying({ samePage: { says: 'identical' } });
    const page = async (cursor?: string) =>
      (await at.get(pathOf('users', DAY, `limit=5${cursor === undefined ? '' : `&cursor=${cursor}`}`))).json;
    const first = await page();
    const cursor = first.meta.next_cursor;
    expect(await page(cursor)).toEqual(first);
    at.emulator.setQuirks({ lies: { samePage: { says: 'ends' } } });
    expect(await page()).toEqual(first);
    expect(await page(cursor)).toMatchObject({
      data: first.data,
      meta: { has_more: false },
    });
    at.emulator.setQuirks({ lies: { samePage: { says: 'goes-on' } } });
    const second = await page(cursor);
    const third = await page(second.meta.next_cursor);
    expect([second.data, third.data]).toEqual([first.data, first.data]);
    expect(new Set([cursor, second.meta.next_cursor, third.meta.next_cursor]).size).toBe(3);
  });
});

test.each([202, 203, 206, 226] as const)(
  'partial answers with status %i and some of the rows',
  async (status) => {
    const at = await probe({ users: 40 });
    const all = await at.rows('users', DAY, 'limit=100');
    at.emulator.setQuirks({ lies: { partial: { status, streams: ['users', 'readiness'] } } });
    const answer = await at.get(pathOf('users', DAY, 'limit=100'));
    expect(answer.status).toBe(status);
    expect(answer.json.data).toEqual(all.slice(0, Math.floor(all.length / 2)));
    expect((await at.get(`${READINESS_PATH}?limit=10`)).json.reports).toHaveLength(5);
    expect((await at.get(pathOf('tokens', DAY))).status).toBe(200);
    at.emulator.setQuirks({ lies: { partial: { status, rows: 'none' } } });
    expect((await at.get(pathOf('tokens', DAY))).json.data).toEqual([]);
  },
);

test('lies can be replaced as a whole at run time, and invalid ones are refused', async () => {
  const at = await lying({ noReports: true });
  const put = (body: unknown) =>
    fetch(`${at.emulator.url}/__admin/quirks`, { method: 'PUT', body: JSON.stringify(body) });
  const shown: Json = await (await put({ lies: { lateDays: [DAY] } })).json();
  expect(shown.lies).toEqual({ lateDays: [DAY] });
  expect(at.emulator.today()).toBe(TODAY);
  expect((await put({ lies: { partial: { status: 204 } } })).status).toBe(400);
  expect(() => parseQuirks({ lies: { lateDays: { user: [DAY] } } })).toThrow(/quirks\.lies\.lateDays/);
  expect(() => parseQuirks({ lies: { flase: true } })).toThrow(/quirks\.lies\.flase/);
});
