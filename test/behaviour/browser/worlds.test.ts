import { afterAll, describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { useBrowser } from '../../support/browser/browser.ts';
import { type Contents, type DashboardRig, serveContents } from '../../support/browser/dashboard-rig.ts';
import { contentProblems, layoutProblems } from '../../support/browser/inspect-page.ts';
import { IS_LONG, pagePaths, problemsOf, withQuery } from '../../support/browser/page-paths.ts';
import { type Rig, rigOver } from '../../support/rig/rig.ts';

const TODAY = parseDay('2026-02-10');

/** Every request for days and reports fails, so that the ledger has units and no table has a row. */
async function runInVain(rig: Rig): Promise<void> {
  rig.emulator.setRules([{ match: {}, action: { type: 'status', status: 500 } }]);
  await rig.run({ settings: { attempts: 1, orgId: rig.emulator.orgId } });
}

/** A run for each of two organizations. */
async function runForTwo(rig: Rig): Promise<void> {
  await rig.run();
  const other = await startEmulator({ realistic: true, users: 8, reports: 3, seed: 2, today: TODAY });
  try {
    await rigOver(other, rig.place, TODAY).run({ newOrganization: other.orgId });
  } finally {
    await other.close();
  }
}

const WORLDS: readonly { readonly name: string; readonly query?: string; readonly contents: Contents }[] = [
  { name: 'nothing but failures', contents: { fill: runInVain } },
  { name: 'one day', contents: { service: { today: parseDay('2026-01-15') } } },
  { name: 'two organizations', contents: { fill: runForTwo } },
  { name: 'a team', query: '?team=Platform', contents: { isComplete: true } },
  { name: 'a day without data', query: '?from=2026-01-14&until=2026-01-14', contents: { isComplete: true } },
];

const WIDTHS = IS_LONG ? [360, 768, 1280, 2560] : [360];

describe('the pages of a warehouse with', () => {
  const browser = useBrowser();
  const served: DashboardRig[] = [];
  afterAll(() => Promise.all(served.map((dashboard) => dashboard.close())));

  it.each(IS_LONG ? WORLDS : WORLDS.slice(0, 1))(
    '$name fit, and each figure shows something or says why',
    async ({ contents, query = '' }) => {
      const dashboard = await serveContents(contents);
      served.push(dashboard);
      const problems: string[] = [];
      for (const width of WIDTHS) {
        const { page } = await browser.open({ viewport: { width, height: 800 } });
        const paths = await pagePaths(page, dashboard.url);
        const found = await problemsOf(paths, async (path) => {
          const response = await page.goto(`${dashboard.url}${withQuery(path, query)}`);
          if (response?.status() !== 200) return [`answered ${response?.status()}`];
          return [...(await layoutProblems(page)), ...(await contentProblems(page))];
        });
        problems.push(...found.map((problem) => `${width} px: ${problem}`));
      }
      expect(problems).toEqual([]);
      expect(dashboard.failures).toEqual([]);
    },
  );

  it('two organizations show one at a time, and its ID where another can be chosen', async () => {
    const dashboard = await serveContents({ fill: runForTwo });
    served.push(dashboard);
    const { page } = await browser.open();
    await page.goto(dashboard.url);
    const names = await page.locator('select[name="org"] option').allTextContents();
    expect(names).toHaveLength(2);
    const headings = new Set<string>();
    for (const name of names) {
      await page.goto(`${dashboard.url}/?org=${name}`);
      expect(await page.locator('.filters summary').textContent()).toContain(name.slice(-6));
      expect(await page.locator('footer').textContent()).toContain(name);
      headings.add((await page.locator('.sentence').textContent()) ?? '');
      for (const href of await page
        .locator('nav li a')
        .evaluateAll((links) => links.map((link) => link.search)))
        expect(href).toBe(`?org=${name}`);
    }
    expect(headings.size).toBe(2);
  });
});
