import type { Page } from 'playwright-core';

/** True in the campaign: every page in every size; the suite has one of each. */
export const IS_LONG = process.env['DAYWALK_BROWSER'] === '1';

/** Paths of all pages in the navigation, of one person and one team that a list leads to, and of what numbers of the overview open. */
export async function pagePaths(page: Page, url: string): Promise<string[]> {
  await page.goto(url);
  const paths = await hrefs(page, 'nav[aria-label="Pages"] li a');
  if (paths.length === 0) throw new Error(`${url} has no navigation`);
  const opened = await hrefs(page, 'main a.opens');
  const subjects: string[] = ['team=', 'model='].flatMap(
    (part) => opened.find((path) => path.includes(part)) ?? [],
  );
  subjects.push('/explore?by=person', '/explore?by=day');
  for (const list of ['/people', '/teams'].filter((path) => paths.includes(path))) {
    await page.goto(`${url}${list}`);
    subjects.push(...(await hrefs(page, `main a[href^="${list}/"]`)).slice(0, 1));
  }
  return [...paths, ...subjects];
}

async function hrefs(page: Page, selector: string): Promise<string[]> {
  const links = await page.locator(selector).all();
  const found = await Promise.all(links.map((link) => link.getAttribute('href')));
  return found.flatMap((href) => href ?? []);
}

/** What is wrong with each page that has anything wrong, for a message that names all of them. */
export async function problemsOf(
  paths: readonly string[],
  check: (path: string) => Promise<readonly string[]>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const path of paths) problems.push(...(await check(path)).map((problem) => `${path}: ${problem}`));
  return problems;
}

/** A path with further parameters, which replace those of the same names; the query begins with `?`, or is empty. */
export function withQuery(path: string, query: string): string {
  const url = new URL(path, 'http://daywalk.invalid');
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
  return `${url.pathname}${url.search}`;
}
