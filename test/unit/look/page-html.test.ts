import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { pageHtml } from '../../../src/look/html/page.ts';
import type { Frame } from '../../../src/look/html/text.ts';
import { cellOf, type Result } from '../../../src/look/numbers.ts';
import type { Cell, Page } from '../../../src/look/page.ts';

const HOSTILE = '"><script>alert(1)</script>';
const FROM = parseDay('2026-11-01');
const UNTIL = parseDay('2026-11-19');

const result: Result = {
  id: 'q1',
  title: 'Credits',
  sql: `SELECT '${HOSTILE}' AS value`,
  rows: [{ value: 1_234_567.5 }, { value: null }],
  unit: 'credits',
  basis: {
    from: FROM,
    until: UNTIL,
    days: {
      expected: 19,
      settled: 15,
      unsettled: [parseDay('2026-11-09'), parseDay('2026-11-18'), UNTIL],
      missing: [parseDay('2026-11-04')],
    },
    run: { id: '2f64c1d0-run', endedAt: '2026-11-20T03:00:00.000Z' },
  },
  warnings: [],
};

const frame: Frame = {
  navigation: [
    { name: 'Overview', href: '/?team=a', isCurrent: true },
    { name: 'Data', href: '/data', isCurrent: false },
  ],
  organization: HOSTILE,
  filters: { orgId: 'org', from: FROM, until: UNTIL },
  href: (path) => path,
  here: ({ sort }) => `?sort=${sort?.by}.${sort?.descending}`,
  footer: ['version'],
  assets: { style: '/style.css', script: '/script.js' },
};

function pageWith(rows: readonly (readonly Cell[])[], heading = 'November 2026, 1 to 19'): Page {
  return {
    name: 'Overview',
    heading,
    sentence: ['Load `daywalk run`, ', { kind: 'link', text: 'more', path: '/data' }],
    sections: [
      {
        kind: 'figure',
        id: 'credits',
        title: 'Credits',
        subtitle: 'Million',
        table: {
          columns: [
            { title: 'Name', sort: 'name' },
            { title: 'Credits', align: 'end', sort: 'credits' },
          ],
          rows,
          sorting: { by: 'credits', descending: true },
        },
        results: [result],
      },
    ],
  };
}

async function markup(page: Page): Promise<string> {
  return String(await pageHtml(page, frame));
}

describe('a page as a document', () => {
  it('carries the exact value and the formula of each number', async () => {
    const text = await markup(
      pageWith([[{ kind: 'text', text: 'a' }, cellOf(result, 0, 'compact', { open: null })]]),
    );
    expect(text).toContain('<data value="1234567.5" data-formula="q1[0].value">1.23\u202fM</data>');
  });

  it('says why a number is missing, and why one may change', async () => {
    const text = await markup(
      pageWith([[cellOf(result, 1, 'count', { why: 'no day is stored' }), cellOf(result, 0, 'count')]]),
    );
    expect(text).toContain('<span class="hidden">no number: no day is stored</span>');
    expect(text).toContain('class="open" title="3 of 19 days are not settled, 1 of 19 days is missing"');
  });

  it('holds the text of each query and the days that it rests on', async () => {
    const text = await markup(pageWith([]));
    expect(text).toContain('data-query="q1"');
    expect(text).toContain('data-missing="2026-11-04"');
    expect(text).toContain(
      'SELECT &#39;&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39; AS value</code>',
    );
  });

  it('names what is settled, what is not, what is missing, and the run', async () => {
    const line = /<p class="basis">(.*?)<\/p>/s
      .exec(await markup(pageWith([])))?.[1]
      ?.replaceAll(/<[^>]*>/g, '');
    expect(line).toBe(
      'settled to 17 November · not settled: 9 November · missing: 4 November · run 2f64c1 · 20 Nov 03:00 UTC',
    );
  });

  it('shows hostile text as text, cut where it is endless and named where it is empty', async () => {
    const long = `${'x'.repeat(10_000)}end`;
    const cells = [HOSTILE, long, ' '].map((text): Cell[] => [{ kind: 'text', text }]);
    const text = await markup(pageWith(cells, HOSTILE));
    expect(text).not.toContain('<script>');
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(text).toContain(`<summary><bdi>${'x'.repeat(119)}…</bdi></summary><bdi>${long}</bdi>`);
    expect(text).toContain('<i class="muted">empty</i>');
  });

  it('has one main heading, a title with page, period and organization, and no inline style', async () => {
    const text = await markup(pageWith([]));
    expect(text.match(/<h1/g)).toHaveLength(1);
    expect(text).toContain('<title>Overview · November 2026, 1 to 19 · &quot;&gt;&lt;script');
    expect(text).not.toMatch(/\sstyle=|\son[a-z]+=|<style/);
    expect(text).toContain('<a href="/?team=a" aria-current="page">Overview</a>');
  });

  it('shows commands as code', async () => {
    expect(await markup(pageWith([]))).toContain('<p class="sentence">Load <code>daywalk run</code>, <a');
  });

  it('marks the order of a list, and its columns lead to the other order', async () => {
    const text = await markup(pageWith([[{ kind: 'text', text: 'a' }, cellOf(result, 0, 'count')]]));
    expect(text).toContain('aria-sort="descending"');
    expect(text).toContain('href="?sort=credits.false"');
    expect(text).toContain('href="?sort=name.false"');
  });
});
