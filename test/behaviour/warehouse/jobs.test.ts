import { describe, expect, it } from 'vitest';
import { contentTables } from '../../../schema/tables.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { StoppedError } from '../../../src/core/errors.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import {
  notePublished,
  readArchives,
  readPublished,
  rememberArchive,
} from '../../../src/records/remembered.ts';
import { readRuns, startRun } from '../../../src/records/runs.ts';
import { digestOf } from '../../../src/warehouse/digest.ts';
import { notesIn, takeLock, withWarehouse } from '../../../src/warehouse/open.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const ROWS = { tokens_daily: [[1, 2, 3, 4, 5, null]] };
const signal = new AbortController().signal;

onEachDatabase((database) => {
  describe('waiting for the run lock', () => {
    it('ends when the other run does', async () => {
      needsSessions(database);
      const other = await open(database);
      const held = await other.lock({ exclusive: true });
      const warehouse = await open(other.place);
      const clock = new FakeClock();
      const warnings: string[] = [];
      const warn = (message: string, hint: string) => void warnings.push(`${message}; ${hint}`);
      const taken = takeLock(warehouse, { clock, signal, wait: true, warn });
      for (let looks = 0; looks < 4; looks += 1) {
        await expect.poll(() => clock.sleeping).toBe(1);
        await clock.advance(1000);
      }
      await expect.poll(() => clock.sleeping).toBe(1);
      await held.release();
      await clock.advance(1000);
      await (await taken).release();
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/another (process|run).* waiting for it to end, 24 hours at most$/);
    });

    it('ends at once when the process is stopped', async () => {
      needsSessions(database);
      const other = await open(database);
      const held = await other.lock({ exclusive: true });
      const warehouse = await open(other.place);
      const control = new AbortController();
      const clock = new FakeClock();
      const taken = thrownBy(takeLock(warehouse, { clock, signal: control.signal, wait: true }));
      await expect.poll(() => clock.sleeping).toBe(1);
      const reason = new StoppedError('SIGTERM');
      control.abort(reason);
      expect(await taken).toBe(reason);
      await held.release();
    });

    it('happens only on request', async () => {
      needsSessions(database);
      const other = await open(database);
      const held = await other.lock({ exclusive: true });
      const warehouse = await open(other.place);
      const clock = new FakeClock();
      expect(await thrownBy(takeLock(warehouse, { clock, signal, wait: false }))).toMatchObject({
        exitCode: 75,
      });
      expect(clock.sleeps).toEqual([]);
      await held.release();
    });

    it('does not happen for any other failure', async () => {
      const warehouse: Pick<Warehouse, 'lock'> = { lock: () => Promise.reject(new TypeError('x')) };
      const error = await thrownBy(
        takeLock(warehouse as Warehouse, { clock: new FakeClock(), signal, wait: true }),
      );
      expect(error).toBeInstanceOf(TypeError);
    });
  });

  describe('a warehouse opened for a job', () => {
    const options = { clock: new FakeClock({ auto: true }), create: true };

    it('is closed afterwards, even if the job fails', async () => {
      let held: Warehouse | undefined;
      const failed = withWarehouse(database.place().location, options, async (warehouse) => {
        held = warehouse;
        throw new Error('no');
      });
      expect(await thrownBy(failed)).toMatchObject({ message: 'no' });
      expect(await thrownBy(Promise.resolve(held && readRuns(held, 1)))).toBeInstanceOf(Error);
    });
  });

  it('knows every place that commands have noted at once', async () => {
    needsSessions(database);
    const warehouse = await open(database);
    const [clock, { location }] = [systemClock(), warehouse.place];
    const notes = { clock, writeNotes: notesIn(location, { clock }) };
    const places = ['a', 'b', 'c', 'd', 'e'];
    const publish = (place: string) => notePublished(location, warehouse, place, notes);
    await Promise.all([...places.map(publish), ...places.map((place) => rememberArchive(warehouse, place))]);
    const found = [await readPublished(location, warehouse), await readArchives(warehouse)];
    expect(found.map((each) => each.toSorted())).toEqual([places, places]);
  });

  describe('the digest of a warehouse', () => {
    it('has one per content table, and one over all', async () => {
      const { warehouse, tables } = await digestOf(await open(database));
      expect(Object.keys(tables)).toEqual(contentTables.map(({ name }) => name));
      expect(warehouse).toMatch(/^[0-9a-f]{64}$/);
    });

    it('depends only on the content: neither order, nor runs, nor the ledger change it', async () => {
      const [one, other] = [await open(database), await open(database)];
      const days = ['2026-02-01', '2026-02-02', '2026-02-03'];
      for (const day of days) await commitDay(one, commitOf({ day, rows: ROWS }));
      for (const day of days.toReversed()) await commitDay(other, commitOf({ day, rows: ROWS, requests: 9 }));
      await startRun(other, { runId: 'r', command: 'run', startedAt: new Date(), versions: {} });
      await commitDay(
        other,
        commitOf({
          day: '2026-02-09',
          quarantined: [{ reason: 'x', path: '', record: '1', recordSha256: 'x' }],
        }),
      );
      expect(await digestOf(other)).toEqual(await digestOf(one));
    });

    it('changes with the content, of that table and the whole', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      const before = await digestOf(warehouse);
      await commitDay(warehouse, commitOf({ rows: { tokens_daily: [[1, 2, 3, 4, 6, null]] } }));
      const after = await digestOf(warehouse);
      expect(after.warehouse).not.toBe(before.warehouse);
      const changed = Object.keys(after.tables).filter((name) => after.tables[name] !== before.tables[name]);
      expect(changed).toEqual(['tokens_daily']);
    });
  });
});
