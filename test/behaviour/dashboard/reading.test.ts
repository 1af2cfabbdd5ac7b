import { copyFileSync, readFileSync, renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { readState, writeState } from '../../../src/records/remembered.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { filledPlace, serve } from '../../support/dashboard/serve.ts';
import { Collector } from '../../support/metrics/collector.ts';
import { roleAt } from '../../support/postgres/roles.ts';
import { publishFrom } from '../../support/publish/publish-from.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { restored } from '../../support/upgrade/kept-warehouses.ts';
import {
  needsSessions,
  onDatabase,
  onEachDatabase,
  open,
  type Place,
} from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite, sqlitePlace } from '../../support/warehouse/sqlite-place.ts';

const WEEK = '/?from=2026-02-02&until=2026-02-08';
const clock = new FakeClock();

/** Gives every user of a day other credits, as a restatement does. */
async function restate(place: Place, credits: number): Promise<void> {
  await place.execute('UPDATE user_daily SET billable_tokens = ?', credits);
}

const readOnly = (place: Pick<Place, 'location'>) =>
  openWarehouse(place.location, { clock, create: false, readOnly: true });

onEachDatabase((database) => {
  describe('the dashboard', () => {
    it('shows every commit at the next request, and never an old page', async () => {
      const place = await filledPlace(database);
      const served = await serve(place);
      const creditsOf = async () => /<data value="(\d+)"/.exec((await served.ask(WEEK)).body)?.[1];
      expect(await creditsOf()).toBe('12000');
      expect(await creditsOf()).toBe('12000');
      for (const credits of [7, 8, 9]) {
        await restate(place, credits);
        expect(await creditsOf()).toBe(String(12 * credits));
      }
    });

    it('shows people as soon as they are loaded', async () => {
      const place = await filledPlace(database);
      const served = await serve(place);
      expect((await served.ask(WEEK)).body).not.toContain('value="sales"');
      const warehouse = await open(place);
      const rows = new Collector('org_1');
      rows.add(tables.people, { person: 'bob', valid_from: '2026-01-01', team: 'sales' });
      await changeRows(warehouse, { put: rows.all(), remove: [] });
      expect((await served.ask(WEEK)).body).toContain('value="sales"');
    });
  });

  describe('a dashboard that was open before', () => {
    it('shows no part of a restore, and goes on once the restore is complete', async () => {
      const place = await filledPlace(database);
      const served = await serve(place);
      expect((await served.ask(WEEK)).body).toContain('value="12000"');
      const writer = await open(place);
      await writeState(writer, '', 'restoring', '"backup"');
      await place.execute("DELETE FROM user_daily WHERE date > '2026-02-03'");
      const part = await served.ask(WEEK);
      expect([part.status, part.body]).toEqual([503, expect.stringContaining('it has a part only')]);
      await place.execute("DELETE FROM export_state WHERE name = 'restoring'");
      expect((await served.ask(WEEK)).status).toBe(200);
    });
  });

  describe('a warehouse that is opened for reading only', () => {
    it('refuses every write', async () => {
      const place = await filledPlace(database);
      const warehouse = await readOnly(place);
      const written = await thrownBy(writeState(warehouse, 'org_1', 'name', '1'));
      expect(String(written)).toMatch(/read-?only|reading only/);
      expect(await readState(warehouse, 'org_1', 'name')).toBeNull();
      await warehouse.close();
    });

    it('is not created, and not upgraded', async () => {
      expect(await thrownBy(readOnly(database.place()))).toMatchObject({ reason: 'no-warehouse' });
      const old = await restored('0.1.0', database);
      const before = await old.query('SELECT COUNT(*) AS n FROM user_daily');
      expect(await thrownBy(readOnly(old))).toMatchObject({
        exitCode: 2,
        reason: 'warehouse-is-older',
      });
      expect(await old.query('SELECT COUNT(*) AS n FROM user_daily')).toEqual(before);
    });

    it('has the same version until something is committed', async () => {
      const place = await filledPlace(database);
      const warehouse = await readOnly(place);
      const version = () => warehouse.inSnapshot(() => warehouse.version());
      const first = await version();
      if (database.name === 'SQLite') expect(await version()).toBe(first);
      await restate(place, 5);
      expect(await version()).not.toBe(first);
      await warehouse.close();
    });
  });
});

describe('the dashboard of a SQLite file', () => {
  it('does not change the file', async () => {
    const place = await filledPlace(sqlite);
    const before = readFileSync(place.location);
    const served = await serve(place);
    for (const path of [WEEK, '/people', '/data', '/nowhere']) await served.ask(path);
    expect(readFileSync(place.location).equals(before)).toBe(true);
  });

  it('goes on when the file is replaced, and says so while it is gone', async () => {
    const place = await filledPlace(sqlite);
    const other = await filledPlace(sqlite);
    await restate(other, 3);
    const served = await serve(place);
    expect((await served.ask(WEEK)).body).toContain('value="12000"');
    renameSync(place.location, `${place.location}.old`);
    const gone = await served.ask(WEEK);
    expect([gone.status, gone.body]).toEqual([503, expect.stringContaining('There is no warehouse')]);
    renameSync(`${place.location}.old`, place.location);
    expect((await served.ask(WEEK)).status).toBe(200);
    const copy = sqlitePlace(tempFile());
    await publishFrom(other.location, { sqlite: copy.location });
    copyFileSync(copy.location, place.location);
    expect((await served.ask(WEEK)).body).toContain('value="36"');
  });

  it('lets the log be emptied between two requests', async () => {
    const place = await filledPlace(sqlite);
    const served = await serve(place);
    await served.ask(WEEK);
    const writer = await place.connect();
    await writer.execute('UPDATE user_daily SET billable_tokens = 4');
    await served.ask(WEEK);
    const [checkpoint] = await writer.query<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
    expect(checkpoint?.busy).toBe(0);
  });
});

onDatabase(postgres, () => {
  it('a role that may only read can serve the dashboard', async () => {
    needsSessions(postgres);
    const place = await filledPlace(postgres);
    const { role, place: own, schema } = await roleAt(place);
    await place.execute(
      `GRANT USAGE ON SCHEMA ${schema} TO "${role}"; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO "${role}"`,
    );
    const served = await serve(own);
    const page = await served.ask(WEEK);
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('value="12000"')]);
  });
});
