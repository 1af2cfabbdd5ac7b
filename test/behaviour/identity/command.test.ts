import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isPostgres } from '../../../src/port/location.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { type Database, onEachDatabase } from '../../support/warehouse/each-database.ts';

const small = { users: 6, today: '2026-01-20', reports: 2 } as const;

async function exported(database: Database) {
  const rig = await archivedRig(small, database);
  await rig.run();
  const env = { ...envOf(rig), DAYWALK_ARCHIVE: rig.folder, DAYWALK_NOW: `${small.today}T05:00:00Z` };
  return { rig, env };
}

onEachDatabase((database) => {
  it('a run, an erasure, archive verify and archive prune name the whole command that accepts an absent archive', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, env } = await exported(database);
    const [id = ''] = await rig.column<string>('SELECT archive_id FROM archives');
    rmSync(join(rig.folder, 'archive.db'));
    const [user = ''] = await rig.column<string>('SELECT min(user_id) FROM user_daily');
    for (const args of [
      ['run'],
      ['backfill', '--from', '2026-01-14', '--until', '2026-01-18'],
      ['erase', '--user', user],
      ['archive', 'verify'],
      ['archive', 'prune', '--older-than', '9d'],
    ]) {
      const { code, stderr } = await daywalkInProcess(args, { env });
      expect([args, code, stderr]).toEqual([args, 6, expect.stringContaining(`daywalk adopt ${id}`)]);
    }
    const status = await daywalkInProcess(['status'], { env });
    expect(status.stdout).toContain(`${id} at ${rig.folder}`);
    // The command names both files, so it works from any folder.
    const { stderr } = await daywalkInProcess(['run', '--warehouse', rig.path], { env });
    // The URL of a server has a password, so it stays in the settings.
    const warehouse = isPostgres(rig.path) ? '' : ` --warehouse ${rig.path}`;
    expect(stderr).toContain(`daywalk adopt ${id}${warehouse} --archive ${join(rig.folder, 'archive.db')}`);
    const adopted = await daywalkInProcess(['adopt', id], { env });
    expect([adopted.code, adopted.stdout]).toEqual([0, expect.stringContaining('is no longer expected')]);
    expect((await daywalkInProcess(['run', '--log', 'silent'], { env })).code).toBe(0);
  });

  it('DAYWALK_CREATE=never refuses to create a warehouse, and DAYWALK_ARCHIVE=none runs without the known archive', async () => {
    const { env } = await exported(database);
    const missing = database.place();
    const never = { ...env, DAYWALK_CREATE: 'never', DAYWALK_WAREHOUSE: missing.location };
    for (const args of [['run'], ['hooks', 'drain']]) {
      const { code, stderr } = await daywalkInProcess(args, { env: never });
      expect([code, stderr]).toEqual([6, expect.stringContaining('none may be created')]);
    }
    const { location } = missing;
    const isThere = isPostgres(location) ? (await missing.relations()).length > 0 : existsSync(location);
    expect(isThere).toBe(false);
    const without = await daywalkInProcess(['run', '--log', 'silent'], {
      env: { ...env, DAYWALK_ARCHIVE: 'none' },
    });
    expect(without.code).toBe(0);
    const unset = await daywalkInProcess(['run'], { env: { ...env, DAYWALK_ARCHIVE: '' } });
    expect([unset.code, unset.stderr]).toEqual([6, expect.stringContaining('daywalk adopt none')]);
  });

  it('an erasure that was interrupted an hour ago makes the warehouse unhealthy', {
    tags: 'ci/rare',
  }, async () => {
    const { rig, env } = await exported(database);
    const health = () => daywalkInProcess(['status', '--health', '--max-age', '26'], { env });
    expect((await health()).code).toBe(0);
    const plan = JSON.stringify({ at: '2026-01-20T03:30:00.000Z' });
    await rig.place.execute("INSERT INTO export_state VALUES ('org_1', 'erasure', ?)", plan);
    const { code, stdout } = await health();
    expect([code, stdout]).toEqual([1, expect.stringContaining('an erasure that began at')]);
  });
});
