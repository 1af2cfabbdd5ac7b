import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { loadFile } from '../../../jobs/csv-files.ts';
import { DEMO_FILE, demoSettings, runDemo } from '../../../jobs/demo.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { peopleFile } from '../../../src/csv-files/people-file.ts';
import { pricesFile } from '../../../src/csv-files/prices.ts';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import { withWarehouse } from '../../../src/warehouse/open.ts';
import { ROOT } from '../structure/sources.ts';
import { scratchFolder } from '../suite/scratch-folder.ts';

/** The warehouse of the demo with teams and prices. */
export interface Demo {
  /** A folder for the files of tests, with the warehouse in it. */
  readonly folder: string;
  readonly path: string;
  readonly orgId: string;
  /** Works on the warehouse, which is open for that time. */
  with<Result>(use: (warehouse: Warehouse) => Promise<Result>): Promise<Result>;
}

/** The instant at which the demo of the documentation runs. */
const NOW = new Date('2026-11-20T03:00:00Z');

/** Makes the demo of the documentation once for the tests of a file. It takes some seconds. */
export function useDemo(): () => Demo {
  let demo: Demo | undefined;
  beforeAll(async () => {
    demo = await makeDemo(mkdtempSync(join(scratchFolder(), 'daywalk-bi-')));
  });
  afterAll(() => {
    if (demo !== undefined) rmSync(demo.folder, { recursive: true, force: true });
  });
  return () => {
    if (demo === undefined) throw new Error('the demo is not made');
    return demo;
  };
}

async function makeDemo(folder: string): Promise<Demo> {
  const clock = systemClock(NOW);
  const context = { clock, observe: () => undefined, signal: new AbortController().signal };
  await runDemo({ directory: folder, keep: false }, context);
  const path = join(folder, DEMO_FILE);
  // The demo is over, so no service has to be named.
  const settings = demoSettings(path, { url: 'http://127.0.0.1', apiKey: '' });
  const request = { isDryRun: false, allowsEmpty: false };
  await loadFile(peopleFile, settings, { file: example('people.csv'), ...request }, { clock });
  await loadFile(pricesFile, settings, { file: example('prices.csv'), ...request }, { clock });
  const use: Demo['with'] = (work) => withWarehouse(path, { clock, create: false }, work);
  const [orgId = ''] = await use((warehouse) => readOrganizationIds(warehouse));
  return { folder, path, orgId, with: use };
}

function example(name: string) {
  return { name, path: join(ROOT, 'docs/examples', name) };
}
