import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../../support/browser/browser.ts';
import { type DashboardRig, serveContents } from '../../support/browser/dashboard-rig.ts';
import { layoutProblems } from '../../support/browser/inspect-page.ts';
import { readClaims } from '../../support/browser/page-claims.ts';
import { wrongClaims } from '../../support/browser/wrong-claims.ts';

/** How many rows of the list are whole in the window, how high they are, and where the head stands. */
const ROWS = `(() => {
  const rows = [...document.querySelectorAll('#people tbody tr')].map((row) => row.getBoundingClientRect());
  const head = document.querySelector('#people thead th').getBoundingClientRect();
  return {
    whole: rows.filter(({ top, bottom }) => top >= 0 && bottom <= innerHeight).length,
    heights: [...new Set(rows.map(({ height }) => Math.round(height)))],
    headTop: Math.round(head.top),
    scrolls: document.documentElement.scrollWidth > innerWidth,
  };
})()`;

describe('the list of people', () => {
  const browser = useBrowser();
  let dashboard: DashboardRig;
  beforeAll(async () => {
    dashboard = await serveContents({ service: { today: '2026-03-20', users: 80 }, isComplete: true });
  });
  afterAll(() => dashboard?.close());

  const at = async (
    width: number,
    height: number,
    options: { hasTouch?: boolean; isMobile?: boolean } = {},
  ) => {
    const { page } = await browser.open({ viewport: { width, height }, ...options });
    await page.goto(`${dashboard.url}/people`);
    return page;
  };

  it('shows forty people on a laptop, each on one line, under a head that stays', async () => {
    const page = await at(1440, 900);
    const rows: unknown = await page.evaluate(ROWS);
    expect(rows).toMatchObject({ heights: [18], scrolls: false });
    expect(rows).toHaveProperty('whole', expect.any(Number));
    expect(Number(Object(rows).whole)).toBeGreaterThanOrEqual(40);
    await page.evaluate('scrollTo(0, 600)');
    expect(await page.evaluate(ROWS)).toMatchObject({ headTop: 0 });
    expect(await wrongClaims(await readClaims(page), dashboard.rig.path)).toEqual([]);
  });

  it('has rows of 36 pixels under a finger', async () => {
    const page = await at(390, 800, { hasTouch: true, isMobile: true });
    expect(await page.evaluate(ROWS)).toMatchObject({ heights: [36], scrolls: false });
  });

  it.each([360, 390, 1280, 2560])('fits into a window of %d pixels', async (width) => {
    const page = await at(width, 800);
    expect(await page.evaluate(ROWS)).toMatchObject({ heights: [18], scrolls: false });
    expect(await layoutProblems(page)).toEqual([]);
  });
});
