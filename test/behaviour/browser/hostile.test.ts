import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../../support/browser/browser.ts';
import { type DashboardRig, serveContents } from '../../support/browser/dashboard-rig.ts';
import { layoutProblems } from '../../support/browser/inspect-page.ts';
import { pagePaths, problemsOf } from '../../support/browser/page-paths.ts';
import type { Rig } from '../../support/rig/rig.ts';

/** Names that leave their place if a page does not hold them: as markup, in an attribute, by direction, by length. */
const NAMES = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '" onload="alert(1)',
  '</svg></title><script>alert(1)</script>',
  '\u202eright to left\u2067',
  'x'.repeat(10_000),
  'null',
  '\u{1F600}\u{1F469}\u200d\u{1F4BB}',
  '../../%2e%2e/?a=b#c',
  "'; DROP TABLE people; --",
];

/** Where names stand: the table, its column, and what else tells its rows apart. */
const PLACES = [
  ['user_daily', 'user_email'],
  ['users', 'user_email'],
  ['user_daily', 'primary_model'],
  ['tokens_daily_by_model', 'model_id'],
  ['tools_daily_by_tool', 'tool'],
  ['tools_daily_by_mcp_server', 'server'],
  ['tools_daily_by_skill', 'name'],
  ['tools_daily_by_slash_command', 'name'],
  ['tools_daily_by_hook', 'command'],
  ['productivity_daily_by_language', 'language'],
  ['user_daily_languages', 'language'],
  ['activity_daily_by_client', 'client'],
  ['people', 'team'],
  ['user_teams', 'team'],
  ['users', 'team'],
  ['readiness_reports', 'repo_url'],
  ['readiness_report_criteria', 'rationale'],
] as const;

/** Replaces the most frequent values of every place by the hostile names, and all user IDs. */
async function poison(rig: Rig): Promise<void> {
  for (const [table, column] of PLACES) {
    const found = await rig.column(
      `SELECT ${column} FROM ${table} WHERE ${column} IS NOT NULL GROUP BY 1 ORDER BY COUNT(*) DESC, 1 LIMIT ${NAMES.length}`,
    );
    await replace(rig, { table, column, found });
  }
  const users = await rig.column('SELECT user_id FROM users ORDER BY billable_tokens DESC LIMIT 8');
  const tables = await rig.column(
    "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'user_id'",
  );
  for (const table of tables) await replace(rig, { table, column: 'user_id', found: users });
}

async function replace(
  rig: Rig,
  { table, column, found }: { table: string; column: string; found: readonly string[] },
): Promise<void> {
  for (const [index, value] of found.entries()) {
    await rig.place.execute(
      `UPDATE OR IGNORE ${table} SET ${column} = ? WHERE ${column} = ?`,
      NAMES[index] ?? value,
      value,
    );
  }
}

describe('hostile names in a warehouse', () => {
  const browser = useBrowser();
  let dashboard: DashboardRig;
  beforeAll(async () => {
    dashboard = await serveContents({ isComplete: true, change: poison });
  });
  afterAll(() => dashboard?.close());

  it.each([360, 1280])('are shown as text, run nothing, and fit into %d px', async (width) => {
    const { page, problems } = await browser.open({ viewport: { width, height: 800 } });
    const paths = await pagePaths(page, dashboard.url);
    const shown = new Set<string>();
    const wrong = await problemsOf(paths, async (path) => {
      const response = await page.goto(`${dashboard.url}${path}`);
      if (response?.status() !== 200) return [`answered ${response?.status()}`];
      const text = (await page.locator('body').textContent()) ?? '';
      for (const name of NAMES) if (text.includes(name)) shown.add(name);
      return layoutProblems(page);
    });
    expect(wrong).toEqual([]);
    expect(problems).toEqual([]);
    expect(NAMES.filter((name) => !shown.has(name))).toEqual([]);
    expect(dashboard.failures).toEqual([]);
  });

  it('lead to the page of the person whose ID they are', async () => {
    const { page } = await browser.open();
    await page.goto(`${dashboard.url}/people`);
    const links = page.locator('main tbody a[href^="/people/"]');
    const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(hrefs.length).toBeGreaterThan(4);
    for (const href of hrefs) {
      const response = await page.goto(`${dashboard.url}${href}`);
      expect(response?.status(), String(href)).toBe(200);
    }
  });
});
