import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../../support/browser/browser.ts';
import { type DashboardRig, serveContents } from '../../support/browser/dashboard-rig.ts';

describe('a browser without scripts', () => {
  const browser = useBrowser();
  let dashboard: DashboardRig;
  beforeAll(async () => {
    dashboard = await serveContents({ isComplete: true });
  });
  afterAll(() => dashboard?.close());

  it('filters, searches, sorts, and opens SQL and tables', async () => {
    const { page, problems } = await browser.open({ javaScriptEnabled: false });
    await page.goto(`${dashboard.url}/people`);
    const names = page.locator('main tbody th');
    const all = await names.allTextContents();
    await page.getByRole('link', { name: 'Days' }).click();
    expect(new URL(page.url()).searchParams.get('sort')).toContain('days');
    expect((await names.allTextContents()).toSorted()).toEqual(all.toSorted());

    await page.locator('input[name="q"]').fill(all[0] ?? '');
    await page.getByRole('button', { name: 'Search' }).click();
    expect(await names.first().textContent()).toBe(all[0]);

    await page.goto(dashboard.url);
    await page.locator('.filters > summary').click();
    await page.locator('select[name="team"]').selectOption('Platform');
    await page.locator('input[name="from"]').fill('2026-02-02');
    await page.getByRole('button', { name: 'Show' }).click();
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({
      team: 'Platform',
      from: '2026-02-02',
    });

    const hasTable = page.getByText('Table', { exact: true });
    const figure = page.locator('section.figure').filter({ has: hasTable }).first();
    await figure.getByText('SQL', { exact: true }).click();
    expect(await figure.locator('code').first().isVisible()).toBe(true);
    await figure.getByText('Table', { exact: true }).click();
    expect(await figure.locator('table').first().isVisible()).toBe(true);
    expect(problems).toEqual([]);
  });
});
