import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../hooks/kills.ts';
import { open } from '../support/database.ts';
import { startDaywalk } from '../support/daywalk.ts';
import { sqlite } from '../support/sqlite.ts';
import { type Content, contentOf, copy, onEachCopyable } from './copying.ts';
import { fill, wholeUnits } from './large-warehouse.ts';

/** Days that do not fit into one transaction with another one, and reports that take two. */
const SIZE = { days: 5, users: 4_000, reports: 400 };
/** Reports that take three. */
const REPORTS = { days: 1, users: 1, reports: 800 };
/** Kills of one campaign in the suite, and of the longer one. */
const KILLS = process.env['DAYWALK_CHAOS'] === '1' ? 20 : 4;
/** How long a copy lives at most, from its plan or its first transaction on; shorter than it takes. */
const LIFE_MS = 250;

/** Copies until so many transactions of readiness reports are committed. */
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

/** Compared as texts: a difference between as many rows is nothing to look at. */
const textOf = (content: Content) => JSON.stringify(content);

onEachCopyable((database) => {
  describe('a copy that is interrupted', () => {
    test('by kills at any instant leaves whole units, and goes on to the same digest', async () => {
      const source = await open(sqlite);
      await fill(source, SIZE);
      const from = source.place.location;
      const to = database.place().location;
      const random = seededRandom();
      const progress: number[] = [];
      let killed = 0;
      for (let round = 0; round < KILLS; round += 1) {
        const { child, ended, stderr } = startDaywalk(['copy', '--warehouse', from, '--to', to]);
        // Some are killed before their first transaction, so others see to it that there is progress.
        const sign = round % 2 === 0 ? 'copy-planned' : '"event":"copied"';
        while (!stderr().includes(sign) && child.exitCode === null) await delay(2);
        await delay(LIFE_MS * random());
        child.kill('SIGKILL');
        if ((await ended).signal === 'SIGKILL') killed += 1;
        const content = await contentOf(to);
        const { days, reports, readiness } = wholeUnits(content);
        if (reports > 0 && reports < SIZE.reports)
          expect(readiness).toEqual(expect.arrayContaining(['pending', null]));
        progress.push(days * SIZE.users + reports);
      }
      expect(killed).toBeGreaterThan(KILLS / 2);
      // What was committed stays.
      expect(progress).toEqual(progress.toSorted((a, b) => a - b));
      const { code, stdout, stderr } = await startDaywalk(['copy', '--warehouse', from, '--to', to, '--json'])
        .ended;
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout).unitsUnchanged).toBeGreaterThan(0);
      expect(textOf(await contentOf(to)) === textOf(await contentOf(from))).toBe(true);
    }, 300_000);

    // What differs between signals does not depend on the database.
    const signals = [['SIGTERM', 143] as const, ['SIGINT', 130] as const];
    test.each(database === sqlite ? signals : signals.slice(0, 1))(
      'by %s ends within five seconds with exit code %i, between two transactions',
      async (signal, code) => {
        const source = await open(sqlite);
        await fill(source, SIZE);
        const from = source.place.location;
        const to = database.place().location;
        const { child, ended, stderr } = startDaywalk(['copy', '--warehouse', from, '--to', to]);
        while (!stderr().includes('"event":"copied"') && child.exitCode === null) await delay(2);
        const askedAt = performance.now();
        child.kill(signal);
        const end = await ended;
        expect(performance.now() - askedAt).toBeLessThan(5_000);
        expect(end).toMatchObject({ code, signal: null, stdout: '' });
        expect(end.stderr).toContain(`stopped by ${signal}`);
        const { days } = wholeUnits(await contentOf(to));
        expect(days).toBeGreaterThan(0);
        expect(days).toBeLessThan(SIZE.days);
        expect((await copy(from, to)).report).toMatchObject({ exitCode: 0, unitsUnchanged: days });
      },
      60_000,
    );
  });

  test('a copy of half a copy, itself interrupted, ends with what its source holds', async () => {
    const source = await open(sqlite);
    await fill(source, REPORTS);
    const [half, quarter] = [database.place().location, database.place().location];
    await stopAfter(2, source.place.location, half);
    await stopAfter(1, half, quarter);
    expect((await contentOf(half))['readiness_reports']?.length).toBeLessThan(REPORTS.reports);
    const { report } = await copy(half, quarter);
    expect(report).toMatchObject({ exitCode: 0, unitsMoved: 1, unitsUnchanged: 1 });
  });

  test('readiness reports that are not all there yet are pulled again by a run, unless the copy goes on', async () => {
    const source = await open(sqlite);
    await fill(source, REPORTS);
    const place = database.place();
    await stopAfter(1, source.place.location, place.location);
    const [orgId = ''] = await source.organizations();
    const destination = await open(place);
    expect(await destination.readinessUnit(orgId)).toMatchObject({
      state: 'pending',
      rows: 0,
      contentSha256: null,
      cursor: null,
      lastError: expect.stringContaining('daywalk copy goes on'),
    });
    const { report } = await copy(source.place.location, place.location);
    expect(report).toMatchObject({ exitCode: 0, unitsMoved: 1, unitsUnchanged: 1 });
    expect(await destination.readinessUnit(orgId)).toEqual(await source.readinessUnit(orgId));
  });
});
