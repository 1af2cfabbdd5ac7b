// @module-tag database-specific

import { appendFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeRecord } from '../../../src/hooks/spool.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { roleAt } from '../../support/postgres/roles.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { needsSessions, onDatabase, open } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const ROWS = { tokens_daily: [[1, 2, 3, null, null, null]] };

/** The statement that a hint ends with. */
function grantIn(error: unknown): string {
  const hint = String(Reflect.get(Object(error), 'hint'));
  return hint.slice(hint.indexOf('GRANT'));
}

/** A spool with one event, as a receiver leaves it. */
function spoolWithEvent(): string {
  const spool = join(tempDir(), 'spool');
  mkdirSync(spool);
  const text = JSON.stringify({ hook_event_name: 'Stop', session_id: 's-1' });
  const record = encodeRecord({ receivedAt: '2026-02-01T00:00:00.000Z', order: '1-0', text });
  appendFileSync(join(spool, 'events.jsonl'), record);
  return spool;
}

onDatabase(postgres, () => {
  describe('a role without USAGE on the schema', () => {
    it('F3: is refused with exit code 2 and the missing GRANT, and works after that GRANT', async () => {
      needsSessions(postgres);
      const owner = postgres.place();
      await owner.makeEmpty();
      const { role, place, schema } = await roleAt(owner);
      await owner.execute(`GRANT CREATE ON SCHEMA ${schema} TO "${role}"`);
      const error = await thrownBy(open(place));
      expect(error).toMatchObject({ name: 'UsageError', exitCode: 2 });
      expect(grantIn(error)).toBe(`GRANT USAGE ON SCHEMA ${schema} TO "${role}"`);
      await owner.execute(grantIn(error));
      const warehouse = await open(place);
      expect(await commitDay(warehouse, commitOf({ rows: ROWS }))).toMatchObject({ rowsWritten: 1 });
      expect(await owner.query('SELECT COUNT(*) AS n FROM tokens_daily')).toEqual([{ n: 1 }]);
    });

    it('F3: is shown both missing GRANTs if CREATE is missing too, unless the tables exist', async () => {
      needsSessions(postgres);
      const owner = postgres.place();
      await owner.makeEmpty();
      const { role, place, schema } = await roleAt(owner);
      expect(grantIn(await thrownBy(open(place)))).toBe(
        `GRANT USAGE, CREATE ON SCHEMA ${schema} TO "${role}"`,
      );
      await open(owner);
      expect(grantIn(await thrownBy(open(place)))).toBe(`GRANT USAGE ON SCHEMA ${schema} TO "${role}"`);
    });

    it('F3: ends a run with exit code 2 before the first request', async () => {
      needsSessions(postgres);
      const { emulator } = await createRig();
      const rig = rigOver(emulator, postgres.place());
      await rig.place.makeEmpty();
      const { role, place, schema } = await roleAt(rig.place);
      await rig.place.execute(`GRANT CREATE ON SCHEMA ${schema} TO "${role}"`);
      expect(await thrownBy(rigOver(rig.emulator, place).run())).toMatchObject({ exitCode: 2 });
      expect(rig.emulator.journal().recent).toEqual([]);
    });

    it('F3: leaves hook events in the spool', async () => {
      needsSessions(postgres);
      const owner = postgres.place();
      await open(owner);
      const { role, place } = await roleAt(owner);
      const spool = spoolWithEvent();
      const call = ['hooks', 'drain', '--warehouse', place.location];
      const { code, stderr } = await daywalkInProcess(call, { env: { DAYWALK_SPOOL: spool } });
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(`TO "${role}"`);
      expect(readdirSync(spool)).toEqual(['events.jsonl']);
    });

    it('F3: stores nothing in another schema if the right is revoked while the warehouse is open', async () => {
      needsSessions(postgres);
      const owner = postgres.place();
      await open(owner);
      const { role, place, schema } = await roleAt(owner);
      const all = `ALL ON ALL TABLES IN SCHEMA ${schema}`;
      await owner.execute(`GRANT USAGE ON SCHEMA ${schema} TO "${role}"; GRANT ${all} TO "${role}"`);
      const warehouse = await open(place);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      await owner.execute(`REVOKE USAGE ON SCHEMA ${schema} FROM "${role}"`);
      const later = commitOf({ day: '2026-02-02', rows: ROWS });
      expect(await thrownBy(commitDay(warehouse, later))).toMatchObject({ exitCode: 6 });
      expect(await owner.query('SELECT COUNT(*) AS n FROM tokens_daily')).toEqual([{ n: 1 }]);
    });
  });

  describe('a role without CREATE on an empty schema', () => {
    it('is refused with exit code 2 and the missing GRANT', async () => {
      needsSessions(postgres);
      const owner = postgres.place();
      await owner.makeEmpty();
      const { role, place, schema } = await roleAt(owner);
      await owner.execute(`GRANT USAGE ON SCHEMA ${schema} TO "${role}"`);
      const error = await thrownBy(open(place));
      expect(error).toMatchObject({ name: 'UsageError', exitCode: 2 });
      expect(grantIn(error)).toBe(`GRANT CREATE ON SCHEMA ${schema} TO "${role}"`);
    });
  });

  it('a role that may not create the missing schema reads who has to create it, as daywalk check says', async () => {
    needsSessions(postgres);
    const { place } = await roleAt(postgres.place());
    const url = new URL(place.location);
    url.searchParams.set('schema', 'never made');
    expect(await thrownBy(open({ ...place, location: url.href }))).toMatchObject({
      exitCode: 6,
      message: expect.stringContaining(
        'the schema never made does not exist, and this role may not create one',
      ),
      hint: expect.stringContaining('create the schema for this role as the owner of the database'),
    });
  });

  it('F3: a schema name that a search path replaces by the name of the role is refused with exit code 2', async () => {
    const url = new URL(postgres.place().location);
    url.searchParams.set('schema', '$user');
    const place = { ...postgres.place(), location: url.href };
    expect(await thrownBy(open(place))).toMatchObject({
      name: 'UsageError',
      exitCode: 2,
      message: expect.stringContaining('"$user"'),
      hint: expect.stringContaining('?schema='),
    });
  });
});
