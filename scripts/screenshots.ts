import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launch, NO_CHROMIUM } from '../test/support/browser/chromium.ts';

/**
 * Makes the screenshots of README.md and docs/dashboard.md from the demo organization at a fixed instant. Run it after
 * `npm run build`; it needs Chromium.
 */

const MAIN = 'dist/src/cli/main.js';
const FOLDER = 'docs/images';
const NOW = '2026-11-20T03:00:00Z';
const BYTES_MAX = 220_000;
const WIDTH = 1280;

/** The picture of a page: its name, its path, and how much of the page is in it. */
interface Picture {
  readonly name: string;
  readonly path: string;
  readonly height: number;
}

const BUDGETS = ['platform', 'payments', 'data', 'mobile'].map((team) => `2026-11,${team},300,EUR\n`);

const folder = mkdtempSync(join(tmpdir(), 'daywalk-screenshots-'));
try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const chromium = findChromium();
  if (chromium === null) throw new Error(NO_CHROMIUM);
  const warehouse = makeDemo();
  const server = spawn(
    process.execPath,
    [MAIN, 'dashboard', '--port', '0', '--json', '--warehouse', warehouse],
    {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const browser = await launch(chromium);
  try {
    const url = await addressOf(server.stdout);
    await takePictures(browser, url);
  } finally {
    await browser.close();
    server.kill('SIGTERM');
  }
}

/** The demo with teams, prices and budgets. */
function makeDemo(): string {
  const warehouse = join(folder, 'daywalk-demo.db');
  const budgets = join(folder, 'budgets.csv');
  writeFileSync(budgets, `month,team,amount,currency\n${BUDGETS.join('')}`);
  daywalk(['demo'], folder);
  daywalk(['people', 'load', 'docs/examples/people.csv', '--warehouse', warehouse]);
  daywalk(['prices', 'load', 'docs/examples/prices.csv', '--warehouse', warehouse]);
  daywalk(['budget', 'load', budgets, '--warehouse', warehouse]);
  return warehouse;
}

function daywalk(args: readonly string[], cwd = process.cwd()): void {
  const program = join(process.cwd(), MAIN);
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd,
    env: environment(),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`daywalk ${args.join(' ')} ended with ${status}: ${stderr}`);
}

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], TZ: 'UTC', DAYWALK_NOW: NOW, DAYWALK_LOG: 'silent' };
}

async function addressOf(output: AsyncIterable<Buffer> & NodeJS.ReadableStream): Promise<string> {
  const [first] = await once(output, 'data');
  const url = /http:\/\/[^"\s]+/.exec(String(first))?.[0];
  if (url === undefined) throw new Error(`the dashboard printed no address: ${String(first)}`);
  return url.replace(/\/$/, '');
}

async function takePictures(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: 900 }, reducedMotion: 'reduce' });
  for (const picture of await picturesOf(page, url)) await take(page, url, picture);
  await page.emulateMedia({ colorScheme: 'dark' });
  await take(page, url, { name: 'dashboard-dark', path: '/', height: 900 });
}

/** One of every page of the navigation, of what a number opens, of a person and of a team. */
async function picturesOf(page: Page, url: string): Promise<Picture[]> {
  await page.goto(url);
  const links = await page.locator('nav[aria-label="Pages"] li a').all();
  const pages = await Promise.all(
    links.map(async (link) => ({ name: await link.textContent(), path: await link.getAttribute('href') })),
  );
  const named = pages.map(({ name, path }) => ({
    name: path === '/' ? 'dashboard' : `dashboard-${(name ?? '').toLowerCase().replaceAll(/\W+/g, '-')}`,
    path: path ?? '/',
    // A dense list takes many bytes.
    height: path === '/people' ? 560 : 900,
  }));
  const opened = {
    name: 'dashboard-explore',
    path: '/explore?team=platform&value=cost&by=person',
    height: 900,
  };
  return [
    ...named,
    opened,
    ...(await subjectOf(page, url, 'people')),
    ...(await subjectOf(page, url, 'teams')),
  ];
}

async function subjectOf(page: Page, url: string, list: 'people' | 'teams'): Promise<Picture[]> {
  await page.goto(`${url}/${list}`);
  const links = await page.locator(`main a[href^="/${list}/"]`).all();
  const path = (await links[0]?.getAttribute('href')) ?? null;
  return path === null
    ? []
    : [{ name: `dashboard-${list === 'people' ? 'person' : 'team'}`, path, height: 900 }];
}

async function take(page: Page, url: string, { name, path, height }: Picture): Promise<void> {
  await page.setViewportSize({ width: WIDTH, height });
  await page.goto(`${url}${path}`);
  const file = join(FOLDER, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled' });
  const { size } = statSync(file);
  if (size > BYTES_MAX) throw new Error(`${file} has ${size} bytes, more than ${BYTES_MAX}`);
  process.stdout.write(`${file}: ${size} bytes\n`);
}
