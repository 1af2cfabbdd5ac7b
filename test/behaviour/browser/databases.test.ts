import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useBrowser } from '../../support/browser/browser.ts';
import { serveContents } from '../../support/browser/dashboard-rig.ts';
import { IS_LONG, pagePaths } from '../../support/browser/page-paths.ts';
import { onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

/** Runs have random IDs, and the footer names the warehouse. */
const RUN = /\brun [0-9a-f]{6}\b/g;

onDatabase(postgres, () => {
  describe('the pages of a warehouse', () => {
    const browser = useBrowser();

    it('have the same text as those of the same data in SQLite', async () => {
      const { page } = await browser.open();
      const textsIn = async (place?: ReturnType<typeof postgres.place>) => {
        const dashboard = await serveContents({ isComplete: true, ...(place && { place }) });
        onTestFinished(() => dashboard.close());
        return textsOf(page, dashboard.url);
      };
      const inSqlite = await textsIn();
      const inPostgres = await textsIn(postgres.place());
      expect(inSqlite.size).toBeGreaterThan(IS_LONG ? 10 : 1);
      expect(inPostgres).toEqual(inSqlite);
    });
  });
});

/** What people read on pages, with their tables open: all in the campaign, and the first and the last one in the suite. */
async function textsOf(page: Page, url: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const paths = await pagePaths(page, url);
  for (const path of IS_LONG ? paths : paths.filter((own) => own === '/' || own === '/data')) {
    await page.goto(`${url}${path}`);
    await page.locator('.folded').evaluateAll((tables) => {
      for (const table of tables) table.setAttribute('open', '');
    });
    texts.set(path, (await page.locator('main').innerText()).replaceAll(RUN, 'run'));
  }
  return texts;
}
