import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AnalyticsPage,
  analyticsPage,
  type ReadinessPage,
  readinessPage,
  walkReadiness,
  walkUsers,
} from '../../../../src/api/pages.ts';
import { UnitError } from '../../../../src/core/errors.ts';
import type { Answer } from '../../../../src/http/response.ts';
import { thrownBy } from '../../../support/api/test-transport.ts';

function answerOf(body: unknown): Answer {
  return { status: 200, body, text: JSON.stringify(body), requestId: 'req_1' };
}

function usersPage(data: unknown[], meta: Record<string, unknown> = {}): AnalyticsPage {
  return analyticsPage(answerOf({ data, meta: { org_id: 'org_1', ...meta } }), 'GET users');
}

function reportsPage(...ids: unknown[]): ReadinessPage {
  return readinessPage(answerOf({ reports: ids.map((reportId) => ({ reportId })) }), 'GET readiness');
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Takes every item and keeps none. */
async function drained(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items) void _;
}

describe('an analytics answer', () => {
  it.each([
    { data: [], meta: { org_id: 'org_1' } },
    {
      data: [1, 'x', {}],
      meta: {
        org_id: 'o',
        start_date: '2026-02-01',
        end_date: '2026-02-01',
        has_more: false,
        next_cursor: null,
      },
    },
    { data: [], meta: { org_id: 'o', has_more: null, new: {} }, new: 1 },
  ])('is %j', (body) => {
    expect(analyticsPage(answerOf(body), 'x')).toMatchObject({
      data: body.data,
      meta: body.meta,
      requestId: 'req_1',
    });
  });

  it.each([
    [null, 'the answer must be an object'],
    [[], 'the answer must be an object'],
    [{}, 'data is required'],
    [{ data: [] }, 'meta is required'],
    [{ data: {}, meta: { org_id: 'o' } }, 'data must be a list'],
    [{ data: null, meta: { org_id: 'o' } }, 'data must be a list'],
    [{ data: [], meta: {} }, 'meta.org_id is required'],
    [{ data: [], meta: { org_id: '' } }, 'meta.org_id must not be empty'],
    [{ data: [], meta: { org_id: 5 } }, 'meta.org_id must be a text'],
    [{ data: [], meta: { org_id: 'a\ud800' } }, 'meta.org_id cannot be stored'],
    [{ data: [], meta: { org_id: 'o', has_more: 'true' } }, 'meta.has_more must be true or false'],
    [{ data: [], meta: { org_id: 'o', has_more: true, next_cursor: 5 } }, 'meta.next_cursor must be a text'],
    [{ error: 'x' }, 'data is required'],
  ])('is not %j: %s', (body, reason) => {
    expect(() => analyticsPage(answerOf(body), 'pull users 2026-02-01')).toThrow(
      expect.objectContaining({
        name: 'UnitError',
        exitCode: 4,
        message: `pull users 2026-02-01 answered JSON of another shape: ${reason} (requestId req_1)`,
      }),
    );
  });
});

describe('a readiness answer', () => {
  it.each([null, {}, [], { reports: {} }, { reports: null }, { data: [] }])('is not %j', (body) => {
    expect(() => readinessPage(answerOf(body), 'x')).toThrow(expect.objectContaining({ name: 'UnitError' }));
  });
});

describe('the walk over the users', () => {
  it('returns every row once, in order, for any page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(5), { minLength: 1, maxLength: 12 }),
        fc.boolean(),
        async (sizes, ahead) => {
          // At most ten pages in a row may be empty, and every other page has a new row.
          const pages = sizes.map((size, at) =>
            Array.from({ length: size || at % 2 }, (_, row) => [at, row]),
          );
          const cursors: (string | undefined)[] = [];
          const get = async (cursor: string | undefined) => {
            cursors.push(cursor);
            const at = cursor === undefined ? 0 : Number(cursor);
            const hasMore = at < pages.length - 1;
            return usersPage(pages[at] ?? [], {
              has_more: hasMore,
              next_cursor: hasMore ? String(at + 1) : null,
            });
          };
          const walked = await collect(walkUsers(get, 'GET users', { ahead }));
          expect(walked.flatMap(({ data }) => data)).toEqual(pages.flat());
          expect(cursors).toEqual([
            undefined,
            ...Array.from({ length: pages.length - 1 }, (_, at) => String(at + 1)),
          ]);
        },
      ),
    );
  });

  it('requests the next page ahead on demand, and reports its failure after the page before', async () => {
    const log: string[] = [];
    const get = async (cursor: string | undefined) => {
      log.push(`asked ${cursor ?? 'first'}`);
      if (cursor !== undefined) throw new UnitError('no second page');
      return usersPage([1], { has_more: true, next_cursor: 'c' });
    };
    const walk = async () => {
      for await (const page of walkUsers(get, 'x', { ahead: true })) log.push(`got ${page.data}`);
    };
    expect(await thrownBy(walk())).toMatchObject({ message: 'no second page' });
    expect(log).toEqual(['asked first', 'asked c', 'got 1']);
  });

  it('begins with a page that is already loaded, without requesting it again', async () => {
    const asked: unknown[] = [];
    const get = async (cursor: string | undefined) => {
      asked.push(cursor);
      return usersPage([2], { has_more: false });
    };
    const walked = await collect(
      walkUsers(get, 'x', { first: usersPage([1], { has_more: true, next_cursor: 'c' }) }),
    );
    expect(walked.map(({ data }) => data)).toEqual([[1], [2]]);
    expect(asked).toEqual(['c']);
  });

  it.each([
    ['null', { has_more: null, next_cursor: 'c' }],
    ['missing', { next_cursor: 'c' }],
    ['missing, as the cursor is', {}],
  ])('fails when has_more is %s', async (_, meta) => {
    expect(await thrownBy(collect(walkUsers(async () => usersPage([1], meta), 'x')))).toMatchObject({
      name: 'UnitError',
      effect: 'unit',
      exitCode: 4,
      reason: 'paging-flags',
    });
  });

  describe('when the last page carries a cursor', () => {
    const END = { has_more: false, next_cursor: 'c' };

    async function walkTo(behind: () => AnalyticsPage): Promise<{ pages: unknown[]; asked: unknown[] }> {
      const asked: unknown[] = [];
      const get = async (cursor: string | undefined) => {
        asked.push(cursor);
        return cursor === undefined ? usersPage([1], END) : behind();
      };
      const pages = await collect(walkUsers(get, 'x', { ahead: true }));
      return { pages, asked };
    }

    it('follows it once; an empty page there confirms the end and is not returned', async () => {
      const { pages, asked } = await walkTo(() => usersPage([], { has_more: false, next_cursor: 'd' }));
      expect(pages).toMatchObject([{ data: [1] }]);
      expect(asked).toEqual([undefined, 'c']);
    });

    it.each([
      ['has a new user', [2], { has_more: false }],
      ['has the same users again', [1], { has_more: false }],
      ['is empty and has more', [], { has_more: true, next_cursor: 'd' }],
    ])('fails when the page there %s', async (_, rows, meta) => {
      expect(await thrownBy(walkTo(() => usersPage(rows, meta)))).toMatchObject({ reason: 'paging-flags' });
    });

    it('passes on an error in place of that page', async () => {
      const fail = () => {
        throw new UnitError('HTTP 500');
      };
      expect(await thrownBy(walkTo(fail))).toMatchObject({ message: 'HTTP 500' });
    });

    it('does not follow the cursor that led to the last page', async () => {
      const asked: unknown[] = [];
      const get = async (cursor: string | undefined) => {
        asked.push(cursor);
        return usersPage([asked.length], { has_more: cursor === undefined, next_cursor: 'c' });
      };
      expect(await collect(walkUsers(get, 'x'))).toHaveLength(2);
      expect(asked).toEqual([undefined, 'c']);
    });
  });

  describe('a page without a new row', () => {
    /** Serves pages of rows under new cursors, the last one for ever. */
    function serving(...pages: unknown[][]): { get: () => Promise<AnalyticsPage>; asked: () => number } {
      let asked = 0;
      const get = async () => {
        const rows = pages[Math.min(asked, pages.length - 1)] ?? [];
        asked += 1;
        return usersPage(rows, { has_more: true, next_cursor: `c-${asked}` });
      };
      return { get, asked: () => asked };
    }
    const row = (user: string, date: string) => ({ user_id: user, date });

    it.each([
      ['the first page again', [row('a', '1'), row('b', '1')], [row('a', '1'), row('b', '1')]],
      [
        'some of its rows, with other numbers',
        [row('a', '1'), row('b', '1')],
        [{ ...row('b', '1'), hooks: 3 }],
      ],
      ['the same row without a user', [{ date: '1' }], [{ date: '1' }]],
    ])('fails the walk: %s', async (_, first, again) => {
      const { get, asked } = serving(first, again);
      expect(await thrownBy(collect(walkUsers(get, 'x')))).toMatchObject({
        effect: 'unit',
        reason: 'repeated-page',
        message: 'x: page 2 has only rows of earlier pages',
      });
      expect(asked()).toBe(2);
    });

    it('also fails it when that page claims to be the last', async () => {
      const pages = [
        usersPage([1], { has_more: true, next_cursor: 'c' }),
        usersPage([1], { has_more: false }),
      ];
      const get = async () => pages.shift() ?? usersPage([]);
      expect(await thrownBy(collect(walkUsers(get, 'x')))).toMatchObject({ reason: 'repeated-page' });
    });

    it('is not assumed when a user continues with another day, or rows without a user differ', async () => {
      const { get, asked } = serving(
        [row('a', '1')],
        [row('a', '1'), row('a', '2')],
        [{ date: '2' }],
        [{ date: '2', hooks: 1 }],
        [{ date: '2' }],
      );
      expect(await thrownBy(collect(walkUsers(get, 'x')))).toMatchObject({ reason: 'repeated-page' });
      expect(asked()).toBe(5);
    });

    it('may be empty at most ten times in a row', async () => {
      const empty = (count: number) => Array.from({ length: count }, () => []);
      const many = serving(...empty(10), [1], ...empty(10), [2], ...empty(11));
      expect(await thrownBy(collect(walkUsers(many.get, 'x')))).toMatchObject({
        effect: 'unit',
        reason: 'empty-pages',
      });
      expect(many.asked()).toBe(10 + 1 + 10 + 1 + 11);
    });
  });

  it.each([
    ['missing', { has_more: true }],
    ['null', { has_more: true, next_cursor: null }],
    ['empty', { has_more: true, next_cursor: '' }],
  ])('fails when more pages are announced and the cursor is %s', async (_, meta) => {
    let asked = 0;
    const get = async () => {
      asked += 1;
      return usersPage([1], meta);
    };
    expect(await thrownBy(collect(walkUsers(get, 'pull users 2026-02-01')))).toMatchObject({
      name: 'UnitError',
      effect: 'unit',
      reason: 'paging-flags',
      message: 'pull users 2026-02-01: page 1 has more but no next_cursor',
    });
    expect(asked).toBe(1);
  });

  it.each([
    ['itself', ['a']],
    ['a circle of two', ['a', 'b']],
    ['a circle of seven', ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
  ])('fails at the first repeated cursor, which leads to %s', async (_, circle) => {
    let asked = 0;
    const get = async () => {
      asked += 1;
      return usersPage([asked], { has_more: true, next_cursor: circle[(asked - 1) % circle.length] });
    };
    expect(await thrownBy(collect(walkUsers(get, 'x')))).toMatchObject({
      effect: 'unit',
      reason: 'endless-walk',
      message: expect.stringContaining('repeats the cursor of an earlier page'),
    });
    expect(asked).toBe(circle.length + 1);
  });

  it('fails when a cursor leads back to the first page, before it repeats pages', async () => {
    const pages: Readonly<Record<string, object>> = {
      '': { has_more: true, next_cursor: 'b' },
      b: { has_more: true, next_cursor: 'c' },
      c: { has_more: true, next_cursor: 'b' },
    };
    const get = async (cursor = '') => usersPage([cursor], pages[cursor] as Record<string, unknown>);
    expect(await thrownBy(collect(walkUsers(get, 'x')))).toMatchObject({ name: 'UnitError' });
  });

  it.each([
    ['pages', '', 'no end within 100000 pages', 100_001],
    // Three texts of 64 Mi characters fit, and a bit of the fourth.
    ['characters', 'x'.repeat(64 * 1024 * 1024), 'no end within 268435456 characters', 4],
  ])('is bounded in %s even if every cursor and every row is new', async (_, text, message, most) => {
    let asked = 0;
    const page = usersPage([], { has_more: true });
    const get = async () => {
      asked += 1;
      const meta = { ...page.meta, next_cursor: String(asked) };
      return { ...page, data: [{ user_id: `u-${asked}` }], text: `${text}!`, meta };
    };
    expect(await thrownBy(drained(walkUsers(get, 'x')))).toMatchObject({
      effect: 'unit',
      reason: 'endless-walk',
      message: expect.stringContaining(message),
    });
    expect(asked).toBe(most);
  });

  it('accepts a cursor of 4096 characters, and no longer one', async () => {
    const cursors = ['c'.repeat(4096), 'd'.repeat(4097)];
    let asked = 0;
    const get = async () => {
      asked += 1;
      return usersPage([asked], { has_more: true, next_cursor: cursors[asked - 1] });
    };
    const error = await thrownBy(collect(walkUsers(get, 'x')));
    expect(error).toMatchObject({
      reason: 'long-cursor',
      message: 'x: page 2 has a cursor of 4097 characters',
    });
    expect(asked).toBe(2);
  });
});

describe('the walk over the readiness reports', () => {
  it('returns every report once for any page size, and ends with an empty page', async () => {
    const ids = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(
        ids,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (list, sizes) => {
          let asked = 0;
          const get = async (startAfter: string | undefined) => {
            const from = startAfter === undefined ? 0 : list.indexOf(startAfter) + 1;
            const size = sizes[asked++ % sizes.length] ?? 1;
            return reportsPage(...list.slice(from, from + size));
          };
          const walked = await collect(walkReadiness(get, 'x'));
          expect(
            walked.flatMap(({ reports }) =>
              reports.map((report) => Reflect.get(report as object, 'reportId')),
            ),
          ).toEqual(list);
        },
      ),
    );
  });

  it('can begin after a given report', async () => {
    const asked: unknown[] = [];
    const get = async (startAfter: string | undefined) => {
      asked.push(startAfter);
      return startAfter === 'r-2' ? reportsPage('r-3') : reportsPage();
    };
    expect(await collect(walkReadiness(get, 'x', 'r-2'))).toMatchObject([{ lastId: 'r-3' }]);
    expect(asked).toEqual(['r-2', 'r-3']);
  });

  it('fails at the first repeated report when the service ignores the cursor', async () => {
    let asked = 0;
    const get = async () => {
      asked += 1;
      return reportsPage('r-1', 'r-2');
    };
    expect(await thrownBy(collect(walkReadiness(get, 'x')))).toMatchObject({
      effect: 'unit',
      reason: 'endless-walk',
      message: 'x: page 2 repeats the cursor of an earlier page',
    });
    expect(asked).toBe(2);
  });

  it('fails at a reportId that is too long for a cursor', async () => {
    const get = async (startAfter: string | undefined) =>
      startAfter === undefined ? reportsPage('r-1') : reportsPage('r'.repeat(4097));
    expect(await thrownBy(collect(walkReadiness(get, 'x')))).toMatchObject({
      reason: 'long-cursor',
      hint: 'the service pages wrongly: a cursor is longer than any that makes sense',
    });
  });

  it('is bounded in characters', async () => {
    const text = 'x'.repeat(256 * 1024 * 1024);
    let asked = 0;
    const get = async () => {
      asked += 1;
      return { ...reportsPage(`r-${asked}`), text };
    };
    expect(await thrownBy(drained(walkReadiness(get, 'x')))).toMatchObject({
      effect: 'unit',
      reason: 'endless-walk',
    });
    expect(asked).toBe(17);
  });

  it('continues from the last report with an id', async () => {
    const asked: unknown[] = [];
    const get = async (startAfter: string | undefined) => {
      asked.push(startAfter);
      return startAfter === undefined ? reportsPage('r-1', 'r-2', null, 5) : reportsPage();
    };
    await collect(walkReadiness(get, 'x'));
    expect(asked).toEqual([undefined, 'r-2']);
  });

  it('returns the last reports and ends when they have no id', async () => {
    const list: unknown[] = ['r-1', 'r-2', null, null];
    const get = async (startAfter: string | undefined) =>
      reportsPage(...list.slice(startAfter === undefined ? 0 : list.indexOf(startAfter) + 1));
    const walked = await collect(walkReadiness(get, 'x'));
    expect(walked[0]?.reports).toHaveLength(4);
  });

  it('returns the reports and ends when only reports without an id follow a resumed cursor', async () => {
    const walked = await collect(walkReadiness(async () => reportsPage(null), 'x', 'r-2'));
    expect(walked).toMatchObject([{ reports: [{ reportId: null }], lastId: 'r-2' }]);
  });

  it('fails when it cannot continue because reports have no id', async () => {
    const pages = [reportsPage('r-1', null), reportsPage(null, null)];
    const error = await thrownBy(collect(walkReadiness(async () => pages.shift() ?? reportsPage(), 'x')));
    expect(error).toMatchObject({
      effect: 'unit',
      message: 'x: page 2 has no report with a reportId to go on from',
    });
  });

  it('fails when the service has only reports without an id', async () => {
    const error = await thrownBy(collect(walkReadiness(async () => reportsPage(null, ''), 'x')));
    expect(error).toMatchObject({
      effect: 'unit',
      message: expect.stringContaining('no report with a reportId'),
    });
  });
});
