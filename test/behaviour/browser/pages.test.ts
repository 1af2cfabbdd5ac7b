import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../../support/browser/browser.ts';
import { type DashboardRig, serveContents } from '../../support/browser/dashboard-rig.ts';
import {
  contentProblems,
  focusProblems,
  layoutProblems,
  marksOf,
} from '../../support/browser/inspect-page.ts';
import { readClaims } from '../../support/browser/page-claims.ts';
import { IS_LONG, pagePaths, problemsOf, withQuery } from '../../support/browser/page-paths.ts';
import { wrongClaims } from '../../support/browser/wrong-claims.ts';

/** Windows: a phone, a tablet, a laptop, a wide screen, and a laptop at 200 %. */
const WINDOWS = [
  { viewport: { width: 360, height: 740 } },
  { viewport: { width: 1280, height: 800 } },
  { viewport: { width: 768, height: 1024 } },
  { viewport: { width: 2560, height: 1300 } },
  { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
];

describe('the pages of a warehouse', () => {
  const browser = useBrowser();
  let dashboard: DashboardRig;
  beforeAll(async () => {
    dashboard = await serveContents({ service: { today: '2026-03-20' }, isComplete: true });
  });
  afterAll(() => dashboard?.close());

  /** All pages; in the suite, the one with every kind of mark. */
  async function paths(page: Parameters<typeof pagePaths>[0]): Promise<string[]> {
    const all = await pagePaths(page, dashboard.url);
    return IS_LONG ? all : all.filter((path) => path === '/');
  }

  it('show only numbers that their SQL gives', async () => {
    const { page } = await browser.open();
    const periods = IS_LONG
      ? [
          '',
          '?team=Platform',
          '?team=unassigned',
          '?from=2026-02-01&until=2026-02-28',
          '?from=2026-03-01&until=2026-03-01',
        ]
      : ['', '?team=Platform'];
    const asked = (await paths(page)).flatMap((path) => periods.map((period) => withQuery(path, period)));
    let numbers = 0;
    const wrong = await problemsOf(asked, async (path) => {
      const response = await page.goto(`${dashboard.url}${path}`);
      if (response?.status() !== 200) return [`answered ${response?.status()}`];
      const claims = await readClaims(page);
      numbers += claims.numbers.length;
      return wrongClaims(claims, dashboard.rig.path);
    });
    expect(wrong).toEqual([]);
    expect(numbers).toBeGreaterThan(asked.length * 5);
  });

  it('have numbers that no longer hold when a row changes between reading and checking', async () => {
    const { page } = await browser.open();
    await page.goto(dashboard.url);
    const claims = await readClaims(page);
    const db = new Sqlite(dashboard.rig.path);
    // A page reads the rows of users or their sums, whichever are fewer.
    const change = (by: number) => {
      for (const table of ['user_daily', 'team_daily'])
        db.prepare(`UPDATE ${table} SET billable_tokens = billable_tokens + ? WHERE date = '2026-03-18'`).run(
          by,
        );
    };
    change(1);
    const wrong = await wrongClaims(claims, dashboard.rig.path);
    change(-1);
    db.close();
    expect(wrong.join('\n')).toContain('and the page states');
  });

  it('are read with the keyboard alone, and the focus is visible', async () => {
    const { page } = await browser.open({ viewport: { width: 360, height: 740 } });
    const problems = await problemsOf(await paths(page), async (path) => {
      await page.goto(`${dashboard.url}${path}`);
      return focusProblems(page);
    });
    expect(problems).toEqual([]);
  });

  it('fit into every window, and no text is cut off', async () => {
    const problems: string[] = [];
    for (const window of IS_LONG ? WINDOWS : WINDOWS.slice(0, 2)) {
      const { page } = await browser.open(window);
      problems.push(
        ...(await problemsOf(await paths(page), async (path) => {
          await page.goto(`${dashboard.url}${path}`);
          const found = [...(await layoutProblems(page)), ...(await contentProblems(page))];
          return found.map((problem) => `${window.viewport.width} px: ${problem}`);
        })),
      );
    }
    expect(problems).toEqual([]);
  });

  it('request nothing from elsewhere, break no security policy and log nothing', async () => {
    const { page, requested, problems } = await browser.open();
    for (const path of await paths(page))
      await page.goto(`${dashboard.url}${path}`, { waitUntil: 'networkidle' });
    expect(requested.length).toBeGreaterThan(3);
    expect(
      requested.filter((address) => !address.startsWith(`${dashboard.url}/`) && address !== 'data:,'),
    ).toEqual([]);
    expect(problems).toEqual([]);
    expect(dashboard.failures).toEqual([]);
  });

  it('have no navigation on paper, where tables are open', async () => {
    const { page } = await browser.open();
    for (const path of await paths(page)) {
      await page.goto(`${dashboard.url}${path}`);
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('nav:visible').count(), path).toBe(0);
      const folded = page.locator('.folded .table');
      expect(await folded.locator('visible=true').count(), path).toBe(await folded.count());
      await page.emulateMedia({ media: 'screen' });
    }
  });

  it('keep their bars and marks in forced colors', async () => {
    const { page } = await browser.open({ forcedColors: 'active' });
    await page.goto(dashboard.url);
    const { marks, invisible } = await marksOf(page);
    expect(marks).toBeGreaterThan(20);
    expect(invisible).toEqual([]);
  });
});
