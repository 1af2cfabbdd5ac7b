import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATASETTE, NO_DATASETTE, serveDatasette } from '../test/support/bi/datasette.ts';
import { findChromium, launch, NO_CHROMIUM } from '../test/support/browser/chromium.ts';

/**
 * Makes the picture of docs/bi/datasette.md from the demo organization at a fixed instant. Run it after `npm run build`; it
 * needs Chromium, and the program of Datasette in the variable that scripts/ci-datasette.sh sets.
 */

const MAIN = join(process.cwd(), 'dist/src/cli/main.js');
const FILE = 'docs/images/datasette.png';
const NOW = '2026-11-20T03:00:00Z';
const BYTES_MAX = 200_000;
const SIZE = { width: 1280, height: 900 };

const folder = mkdtempSync(join(tmpdir(), 'daywalk-screenshot-'));
try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const chromium = findChromium();
  if (chromium === null) throw new Error(NO_CHROMIUM);
  if (DATASETTE === null) throw new Error(NO_DATASETTE);
  const examples = join(process.cwd(), 'docs/examples');
  daywalk('demo');
  daywalk('people', 'load', join(examples, 'people.csv'), '--warehouse', 'daywalk-demo.db');
  daywalk('prices', 'load', join(examples, 'prices.csv'), '--warehouse', 'daywalk-demo.db');
  daywalk('bi', 'datasette', '--out', 'files');
  daywalk('publish', '--sqlite', 'files/daywalk.db', '--warehouse', 'daywalk-demo.db');
  const paths = { database: join(folder, 'files/daywalk.db'), metadata: join(folder, 'files/metadata.json') };
  const server = await serveDatasette(DATASETTE, paths);
  const browser = await launch(chromium);
  try {
    const page = await browser.newPage({ viewport: SIZE, reducedMotion: 'reduce' });
    await page.goto(`${server.url}/-/dashboards/cost`);
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: FILE, animations: 'disabled' });
  } finally {
    await browser.close();
    await server.close();
  }
  const { size } = statSync(FILE);
  if (size > BYTES_MAX) throw new Error(`${FILE} has ${size} bytes, more than ${BYTES_MAX}`);
  process.stdout.write(`${FILE}: ${size} bytes\n`);
}

function daywalk(...args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], TZ: 'UTC', DAYWALK_NOW: NOW, DAYWALK_LOG: 'silent' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`daywalk ${args.join(' ')} ended with ${status}: ${stderr}`);
}
