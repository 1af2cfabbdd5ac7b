import { parse } from 'csv-parse/sync';
import type { Served } from './serve.ts';

/** What a crawl has found. */
export interface Crawled {
  readonly pages: readonly string[];
  /** Numbers that opened a page. */
  readonly opened: number;
  readonly tables: number;
  /** What is wrong, one sentence each. */
  readonly wrong: readonly string[];
}

/** The relative difference that sums in another order may have. */
const RELATIVE = 1e-9;

/**
 * Opens every link of every page, and asks for every table as CSV, from some paths on. A page that a number led to must begin with that
 * number, and the rows of a table must add up to its last one.
 * @param most pages that are opened at most; links beyond them are left alone.
 */
export async function crawl({ ask }: Served, starts: readonly string[], most: number): Promise<Crawled> {
  const found = new Map<string, string | null>(starts.map((path) => [path, null]));
  const wrong: string[] = [];
  let [opened, tables] = [0, 0];
  const bodies = new Map<string, string>();
  const bodyOf = async (path: string): Promise<string> => {
    const known = bodies.get(path);
    if (known !== undefined) return known;
    const { status, body } = await ask(path);
    if (status !== 200) wrong.push(`${path} has the status ${status}`);
    bodies.set(path, body);
    return body;
  };
  for (const path of found.keys()) {
    if (found.size > most && bodies.size >= most) break;
    const body = await bodyOf(path);
    for (const [, href = '', value = ''] of body.matchAll(OPENS)) {
      const to = unescaped(href);
      opened += 1;
      found.set(to, path);
      const [first] = (await bodyOf(to)).match(FIRST) ?? [];
      const number = /value="([^"]*)"/.exec(first ?? '')?.[1];
      if (!isClose(Number(number), Number(value)))
        wrong.push(`${path}: ${value} led to ${to}, which says ${number}`);
    }
    for (const [, href = ''] of body.matchAll(CSV)) {
      const { status, body: text } = await ask(unescaped(href));
      tables += 1;
      if (status !== 200) wrong.push(`${href} has the status ${status}`);
      else wrong.push(...wrongSum(href, text));
    }
    for (const [, href = ''] of body.matchAll(LINK)) {
      const to = unescaped(href).split('#')[0] ?? '';
      if (to !== '' && !to.startsWith('/assets') && !to.includes('csv=') && !found.has(to))
        found.set(to, path);
    }
  }
  return { pages: [...bodies.keys()], opened, tables, wrong };
}

const OPENS = /<a class="opens" href="([^"]*)"><data value="([^"]*)"/g;
const CSV = /<a class="csv" href="([^"]*)"/g;
const LINK = /<a(?: [a-z-]+="[^"]*")*? href="(\/[^"]*)"/g;
const FIRST = /<p class="sentence">.*?<data [^>]*>/s;

/** Rows that add up end with a row of all of them. */
function wrongSum(path: string, text: string): string[] {
  const [head = [], ...rows] = parse(text, { bom: true, relaxColumnCount: false }) as string[][];
  const last = rows.at(-1);
  if (last === undefined || !/^All/.test(last[0] ?? '')) return [];
  const column = head.findIndex((name) => /^(Cost|Credits|EUR)/.test(name));
  if (column < 0) return [];
  const parts = rows.slice(0, -1).map((row) => row[column]);
  if (parts.some((part) => part === '')) return [];
  const sum = parts.reduce((total, part) => total + Number(part), 0);
  return isClose(sum, Number(last[column]))
    ? []
    : [`${path}: the rows add up to ${sum}, not ${last[column]}`];
}

function isClose(a: number, b: number): boolean {
  return Math.abs(a - b) <= RELATIVE * Math.max(1, Math.abs(a), Math.abs(b));
}

function unescaped(href: string): string {
  return href.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');
}
