import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../../support/browser/browser.ts';
import { type DashboardRig, serveContents } from '../../support/browser/dashboard-rig.ts';
import { axeViolations } from '../../support/browser/inspect-page.ts';
import { IS_LONG, pagePaths, problemsOf } from '../../support/browser/page-paths.ts';

// Apart from the other tests of pages, so that both use a core: they take as long.

/** So that SQL and folded tables are judged, too. */
const OPEN_DETAILS = "for (const details of document.querySelectorAll('details')) details.open = true";

describe('the pages of a warehouse', () => {
  const browser = useBrowser();
  let dashboard: DashboardRig;
  beforeAll(async () => {
    dashboard = await serveContents({ service: { today: '2026-03-20' }, isComplete: true });
  });
  afterAll(() => dashboard?.close());

  it.each(IS_LONG ? (['light', 'dark'] as const) : (['light'] as const))(
    'break no rule of accessibility in %s',
    async (colorScheme) => {
      // Colors depend on the scheme, and what is where on the width: one width in each scheme shows both.
      const viewport = { width: colorScheme === 'light' ? 1280 : 360, height: 800 };
      const { page } = await browser.open({ colorScheme, viewport });
      const all = await pagePaths(page, dashboard.url);
      const paths = IS_LONG ? all : all.filter((path) => path === '/');
      const problems = await problemsOf(paths, async (path) => {
        await page.goto(`${dashboard.url}${path}`);
        await page.evaluate(OPEN_DETAILS);
        return axeViolations(page);
      });
      expect(problems).toEqual([]);
    },
  );
});
