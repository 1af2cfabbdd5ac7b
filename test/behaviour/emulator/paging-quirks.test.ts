import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { parseDays } from '../../../src/emulator/days.ts';
import type { Quirks } from '../../../src/emulator/quirks.ts';
import { pathOf, probe } from '../../support/emulator/probe.ts';
import { testVariants } from '../../support/suite/variants.ts';

const DAY = '2026-03-10';

async function withQuirks(quirks: Parameters<typeof probe>[0]) {
  const at = await probe(quirks);
  const reference = await probe({ ...quirks, quirks: {} });
  return { at, expected: (await reference.walk(DAY)).rows };
}

test('usersLimitCap: a short page is not the last page', async () => {
  const { at, expected } = await withQuirks({ quirks: { usersLimitCap: 7 } });
  expect(await at.rows('users', DAY, 'limit=100')).toHaveLength(7);
  const { rows, pages } = await at.walk(DAY, 'limit=100');
  expect(rows).toEqual(expected);
  expect(pages).toBe(Math.ceil(expected.length / 7));
});

test.each([1, 100, 1000])('pageSize %d ignores the limit', async (pageSize) => {
  const { at, expected } = await withQuirks({ quirks: { pageSize } });
  expect(await at.rows('users', DAY, 'limit=5')).toHaveLength(Math.min(pageSize, expected.length));
  expect((await at.walk(DAY, 'limit=5')).rows).toEqual(expected);
});

test('pageSize as a list: pages of all listed sizes occur, also empty ones, and the walk is complete', async () => {
  const { at, expected } = await withQuirks({ quirks: { pageSize: [0, 1, 9] } });
  const { rows, cursors, pages } = await at.walk(DAY);
  expect(rows).toEqual(expected);
  const sizes = new Set<number>();
  for (const cursor of cursors) sizes.add((await at.rows('users', DAY, `cursor=${cursor}`)).length);
  expect([...sizes]).toEqual(expect.arrayContaining([0, 1, 9]));
  expect(new Set(cursors).size).toBe(pages - 1);
});

test('pageSize 0: every other page is empty, and the walk still ends', async () => {
  const { at, expected } = await withQuirks({ quirks: { pageSize: 0 } });
  const first = await at.get(pathOf('users', DAY));
  expect(first.json).toMatchObject({ data: [], meta: { has_more: true, next_cursor: 'user_0' } });
  const { rows, pages } = await at.walk(DAY, 'limit=10');
  expect(rows).toEqual(expected);
  expect(pages).toBe(2 * Math.ceil(expected.length / 10));
});

test('emptyPageWithMore: some pages are empty although more follow', async () => {
  const { at, expected } = await withQuirks({ quirks: { emptyPageWithMore: true } });
  const { rows, pages, cursors } = await at.walk(DAY, 'limit=5');
  expect(rows).toEqual(expected);
  expect(pages).toBeGreaterThan(Math.ceil(expected.length / 5));
  expect(new Set(cursors).size).toBe(cursors.length);
});

describe('overlappingPages', () => {
  test('identical: each page repeats the last user of the page before', async () => {
    const { at, expected } = await withQuirks({ quirks: { overlappingPages: 'identical' } });
    const { rows, pages } = await at.walk(DAY, 'limit=10');
    expect(rows).toHaveLength(expected.length + pages - 1);
    expect([...new Map(rows.map((row) => [row.user_id, row])).values()]).toEqual(expected);
  });

  test('conflicting: the repeated rows have other numbers', async () => {
    const { at, expected } = await withQuirks({ quirks: { overlappingPages: 'conflicting' } });
    const { rows, pages } = await at.walk(DAY, 'limit=10');
    const repeated = rows.filter(
      (row, index) => rows.findIndex(({ user_id }) => user_id === row.user_id) < index,
    );
    expect(repeated).toHaveLength(pages - 1);
    for (const row of repeated) {
      const original = expected.find(({ user_id }) => user_id === row.user_id);
      expect(row).toEqual({ ...original, tool_calls: (original?.tool_calls ?? 0) + 1 });
    }
  });
});

test('limitCounts rows: a page ends with the user who reaches the limit', async () => {
  const at = await probe({ quirks: { limitCounts: 'rows' } });
  const days = '2026-03-09..2026-03-13';
  const rows = await at.rows('users', days, 'limit=20');
  expect(rows.length).toBeGreaterThanOrEqual(20);
  expect(rows.length).toBeLessThan(25);
  const reference = await probe();
  expect((await at.walk(days, 'limit=20')).rows).toEqual((await reference.walk(days)).rows);
});

test('unknownCursor: the walk continues after any text, or the cursor is refused', async () => {
  const at = await probe();
  const { rows } = await at.walk(DAY);
  const middle = rows[5]?.user_id ?? '';
  const rest = await at.rows('users', DAY, `limit=100&cursor=${middle}`);
  expect(rest).toEqual(rows.slice(6));
  expect((await at.get(pathOf('users', DAY, 'cursor=zzz'))).json).toMatchObject({
    data: [],
    meta: { has_more: false },
  });
  expect((await at.get(pathOf('users', DAY, 'cursor='))).status).toBe(400);
  at.emulator.setQuirks({ unknownCursor: 'reject' });
  expect((await at.get(pathOf('users', DAY, 'cursor=zzz'))).json.detail).toBe('Invalid cursor "zzz"');
});

test('the cursor of a user who disappeared continues at the same place', async () => {
  const at = await probe();
  const { rows } = await at.walk(DAY);
  const gone = rows[9]?.user_id ?? '';
  at.emulator.revise({ kind: 'vanish-users', day: parseDay(DAY), users: [gone] });
  expect(await at.rows('users', DAY, `limit=100&cursor=${gone}`)).toEqual(rows.slice(10));
});

describe('users of a given day', () => {
  // Each is the beginning of others, and the last two look like cursors of empty pages.
  const IDS = ['u1', 'u10', 'u100', 'u2', 'u20', 'u200', 'u3', 'u3~', 'user_0'];
  const rows = IDS.map((user_id) => ({ user_id, date: DAY, tool_calls: 4 }));
  const days = parseDays(JSON.stringify({ stream: 'users', date: DAY, rows }));

  async function pagesOf(quirks: Partial<Quirks>, seed: number): Promise<string[][]> {
    const at = await probe({ seed, days, quirks: { unknownCursor: 'reject', ...quirks } });
    const { cursors } = await at.walk(DAY, 'limit=1');
    const queries = ['limit=1', ...cursors.map((cursor) => `limit=1&cursor=${encodeURIComponent(cursor)}`)];
    const pages = await Promise.all(queries.map((query) => at.rows('users', DAY, query)));
    return pages.map((page) => page.map(({ user_id, tool_calls }) => `${user_id} ${tool_calls}`));
  }

  const whole = IDS.map((id) => `${id} 4`);

  testVariants<Partial<Quirks>>([
    {},
    { emptyPageWithMore: true },
    { pageSize: 0 },
    { pageSize: [1, 0] },
    { pageSize: [2, 0, 3] },
    { emptyPageWithMore: true, pageSize: [0, 2] },
  ])('are all in a walk with %j, and no two empty pages follow each other', async (quirks) => {
    let empty = 0;
    for (const seed of [1, 2, 3, 4]) {
      const pages = await pagesOf(quirks, seed);
      expect(pages.flat()).toEqual(whole);
      const lengths = pages.map((page) => (page.length === 0 ? '-' : 'x')).join('');
      expect(lengths).not.toContain('--');
      empty += pages.filter((page) => page.length === 0).length;
    }
    if (Object.keys(quirks).length > 0) expect(empty).toBeGreaterThan(0);
  });

  test('are repeated by overlappingPages', async () => {
    const before = [[], ...whole.map((row) => [row])];
    expect(await pagesOf({ overlappingPages: 'identical' }, 1)).toEqual(
      whole.map((row, page) => [...(before[page] ?? []), row]),
    );
    expect(await pagesOf({ overlappingPages: 'conflicting' }, 1)).toEqual(
      whole.map((row, page) => [...(before[page] ?? []).map((other) => other.replace('4', '5')), row]),
    );
  });

  test('give cursors that unknownCursor accepts, and no others', async () => {
    const at = await probe({ days, quirks: { unknownCursor: 'reject' } });
    expect((await at.get(pathOf('users', DAY, 'limit=1&cursor=u1~'))).status).toBe(200);
    expect((await at.get(pathOf('users', DAY, 'limit=1&cursor=u4'))).status).toBe(400);
    expect((await at.get(pathOf('users', '2026-03-09', 'limit=1&cursor=u1'))).status).toBe(400);
  });
});
