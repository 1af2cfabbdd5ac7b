// @module-tag campaign/moves

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { readOrganizationIds, readReadinessUnit } from '../../../src/ledger/ledger.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { fill, type Size, wholeUnits } from '../../support/copy/large-warehouse.ts';
import { type Content, contentOf, copy, onEachCopyable } from '../../support/copy/run-copy.ts';
import { startDaywalk } from '../../support/process/daywalk-process.ts';
import { seeded } from '../../support/random/seed.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite, sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

/** Days that do not fit into one transaction with another one, and reports that take two. */
const SIZE = { days: 5, users: 3_400, reports: 350 };
/** Reports that take three. */
const REPORTS = { days: 1, users: 1, reports: 700 };
/** Kills of one campaign in the suite, and of the longer one. */
const KILLS = process.env['DAYWALK_CHAOS'] === '1' ? 20 : 2;
/** How long a copy lives at most, from its plan or its first transaction on; shorter than it takes. */
const LIFE_MS = 150;

/** Warehouses of those sizes, made once: a copy only reads them. */
let large: string;
let manyReports: string;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'daywalk-test-'));
  large = await filled('large.db', SIZE);
  manyReports = await filled('reports.db', REPORTS);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function filled(name: string, size: Size): Promise<string> {
  const path = join(folder, name);
  const warehouse = await openWarehouse(path, { clock: systemClock(), create: true });
  await fill(warehouse, size);
  await warehouse.close();
  return path;
}

/** Copies until this number of transactions with readiness reports is committed. */
async function stopAfter(transactions: number, from: string, to: string): Promise<void> {
  const controller = new AbortController();
  let committed = 0;
  const stopped = copy(from, to, {
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type === 'copied' && event.what === 'readiness') committed += 1;
      if (committed === transactions) controller.abort(new Error('enough'));
    },
  });
  await expect(stopped).rejects.toThrow('enough');
}

/** The first rows that are copied belong to no unit. */
const UNITS_COPIED = /"event":"copied".*"units":[1-9]/;

/** Compared as texts: a difference between as many rows is nothing to look at. */
const textOf = (content: Content) => JSON.stringify(content);

onEachCopyable((database) => {
  describe('an interrupted copy', () => {
    test('by kills at any instant leaves whole units, and then reaches the same digest', async () => {
      const from = large;
      let to = database.place().location;
      const random = seeded('hook calls');
      let progress: number[] = [];
      let killed = 0;
      for (let round = 0; round < KILLS; round += 1) {
        const { child, ended, stderr } = startDaywalk(['copy', '--warehouse', from, '--to', to]);
        // Some are killed before their first transaction, so others see to it that there is progress.
        const sign = round % 2 === 0 ? /copy-planned/ : UNITS_COPIED;
        while (!sign.test(stderr()) && child.exitCode === null) await delay(2);
        await delay(LIFE_MS * random());
        child.kill('SIGKILL');
        const isKilled = (await ended).signal === 'SIGKILL';
        if (isKilled) killed += 1;
        const content = await contentOf(to);
        const { days, reports, readiness } = wholeUnits(content);
        if (reports > 0 && reports < SIZE.reports)
          expect(readiness).toEqual(expect.arrayContaining(['pending', null]));
        progress.push(days * SIZE.users + reports);
        // What was committed stays.
        expect(progress).toEqual(progress.toSorted((a, b) => a - b));
        if (isKilled || round === KILLS - 1) continue;
        // It came to its end before: the next one has everything to do again.
        to = database.place().location;
        progress = [];
      }
      expect(killed).toBeGreaterThanOrEqual(KILLS / 2);
      const { report } = await copy(from, to);
      expect(report.exitCode).toBe(0);
      expect(report.unitsUnchanged).toBeGreaterThan(0);
      expect(textOf(await contentOf(to)) === textOf(await contentOf(from))).toBe(true);
    });

    // What differs between signals does not depend on the database.
    const signals = [['SIGTERM', 143] as const, ['SIGINT', 130] as const];
    test.each(database === sqlite ? signals : signals.slice(0, 1))(
      'by %s ends within five seconds with exit code %i, between two transactions',
      async (signal, code) => {
        const from = large;
        const to = database.place().location;
        const { child, ended, stderr } = startDaywalk(['copy', '--warehouse', from, '--to', to]);
        while (!UNITS_COPIED.test(stderr()) && child.exitCode === null) await delay(2);
        const askedAt = performance.now();
        child.kill(signal);
        const end = await ended;
        expect(performance.now() - askedAt).toBeLessThan(5_000 + BUSY_MACHINE_MS);
        expect(end).toMatchObject({ code, signal: null, stdout: '' });
        expect(end.stderr).toContain(`stopped by ${signal}`);
        const { days } = wholeUnits(await contentOf(to));
        expect(days).toBeGreaterThan(0);
        expect(days).toBeLessThan(SIZE.days);
        expect((await copy(from, to)).report).toMatchObject({ exitCode: 0, unitsUnchanged: days });
      },
    );
  });

  test('incomplete readiness reports are known as incomplete until the copy is completed', async () => {
    const source = await open(sqlitePlace(manyReports));
    const place = database.place();
    await stopAfter(1, manyReports, place.location);
    const [orgId = ''] = await readOrganizationIds(source);
    const destination = await open(place, { partial: true });
    expect(await readReadinessUnit(destination, orgId)).toMatchObject({
      state: 'pending',
      rows: 0,
      contentSha256: null,
      cursor: null,
      lastError: expect.stringContaining('run daywalk copy again'),
    });
    const { report } = await copy(manyReports, place.location);
    expect(report).toMatchObject({ exitCode: 0, unitsMoved: 1, unitsUnchanged: 1 });
    expect(await readReadinessUnit(destination, orgId)).toEqual(await readReadinessUnit(source, orgId));
  });
});
