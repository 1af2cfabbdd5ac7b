// @module-tag campaign/verify

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveDashboard } from '../../../jobs/pages.ts';
import { hintOf } from '../../../src/cli/remedies.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { parseDay } from '../../../src/core/day.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { digestOf } from '../../../src/warehouse/digest.ts';
import { schemaVersion } from '../../../src/warehouse/schema-version.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { command, loadFiles, readingCommands } from '../../support/reading/reading-commands.ts';
import { CANARY_KEY } from '../../support/rig/canary-key.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { type Rig, rigOver } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { keptFacts, restored } from '../../support/upgrade/kept-warehouses.ts';
import { type Database, needsSessions, onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const HISTORY = 'SELECT COUNT(*) FROM "__drizzle_migrations"';

/** A warehouse of version 0.1.0, beside the service that it exports. */
async function olderRig(database: Database): Promise<Rig> {
  const { service } = keptFacts('0.1.0');
  const emulator = await startEmulator({
    realistic: true,
    ...service,
    today: parseDay(service.today),
    apiKey: CANARY_KEY,
  });
  onTestFinished(() => emulator.close());
  return rigOver(emulator, await restored('0.1.0', database), parseDay(service.today));
}

/** What may not change: the bytes of a file, or the migrations of a schema. */
async function contentOf({ path, place }: Rig, { name }: Database): Promise<unknown> {
  return name === sqlite.name ? readFileSync(path).toString('base64') : place.query(HISTORY);
}

onEachDatabase((database) => {
  describe('a command that only reads', () => {
    it('refuses an older warehouse with both versions, and does not change it', async () => {
      const rig = await olderRig(database);
      const known = schemaVersion(rig.path);
      const [stored] = await rig.column<number>(HISTORY);
      const older = await contentOf(rig, database);
      for (const [name, args] of Object.entries(readingCommands())) {
        const { code, stdout, stderr } = await command(rig, args);
        // A probe knows healthy and unhealthy.
        const isProbe = name.includes('--health');
        const words = `has version ${stored}, this program ${known}\n${isProbe ? '' : 'hint: .*daywalk upgrade'}`;
        expect([name, code, isProbe ? stdout : stderr]).toEqual([
          name,
          isProbe ? 1 : 2,
          expect.stringMatching(new RegExp(words)),
        ]);
      }
      expect(await contentOf(rig, database)).toEqual(older);
    });

    it('refuses a newer one, as one that writes does', async () => {
      const { place } = await open(database);
      const known = schemaVersion(place.location);
      await place.execute(
        `INSERT INTO "__drizzle_migrations" (id, hash, created_at) VALUES (1000, 'x', ${Date.UTC(2100)})`,
      );
      const { emulator } = await exportedRig({ users: 3, reports: 1 });
      const rig = rigOver(emulator, place);
      for (const args of [['status'], ['metric', 'sessions'], ['run'], ['upgrade']]) {
        const { code, stderr } = await command(rig, args);
        expect([args, code, stderr]).toEqual([
          args,
          2,
          expect.stringMatching(
            new RegExp(`has version ${known + 1}, this program ${known}\n.*newer: update daywalk`),
          ),
        ]);
      }
    });

    it('keeps every byte of the file', { tags: 'ci/rare' }, async () => {
      const rig = await exportedRig({ users: 6, reports: 2 }, { database });
      await loadFiles(rig);
      const before = await contentOf(rig, database);
      for (const [name, args] of Object.entries(readingCommands())) {
        const { code, stderr } = await command(rig, args);
        expect([name, code, stderr]).toEqual([name, 0, expect.anything()]);
        expect([name, await contentOf(rig, database)]).toEqual([name, before]);
      }
    });
  });

  describe('a command that writes', () => {
    const file = (content: string) => {
      const path = join(tempDir(), 'file');
      writeFileSync(path, content);
      return path;
    };
    testVariants<[string, () => readonly string[]]>([
      ['run', () => ['run', '--streams', 'tokens']],
      [
        'backfill',
        () => ['backfill', '--from', '2026-01-14', '--until', '2026-01-14', '--streams', 'tokens'],
      ],
      ['erase', () => ['erase', '--user', 'nobody']],
      ['people load', () => ['people', 'load', file('user_email,team,valid_from\na@b.c,core,2026-01-01\n')]],
      ['quarantine accept', () => ['quarantine', 'accept', '--all']],
      ['hooks drain', () => ['hooks', 'drain']],
      ['sessions create', () => ['sessions', 'create', '--computer-id', 'computer-1', '--cwd', '/srv']],
    ])('upgrades an older warehouse and says so in one line: %s', async (_, argsOf) => {
      const rig = await olderRig(database);
      const known = schemaVersion(rig.path);
      const [stored] = await rig.column<number>(HISTORY);
      const { stderr } = await command(rig, argsOf());
      const lines = stderr.split('\n').filter((line) => line.startsWith('upgraded the warehouse '));
      expect([lines.length, lines[0]]).toEqual([
        1,
        expect.stringMatching(new RegExp(` from version ${stored} to ${known}$`)),
      ]);
      expect(await rig.column<number>(HISTORY)).toEqual([known]);
      expect((await command(rig, argsOf())).stderr).not.toContain('upgraded');
    });

    it('upgrades the destination of a copy, and says so', { tags: 'ci/rare' }, async () => {
      const rig = await exportedRig({ users: 3, reports: 1 });
      const to = await restored('0.1.0', database);
      const { stderr } = await command(rig, ['copy', '--to', to.location, '--replace']);
      expect(stderr.match(/^upgraded the warehouse .* from version \d+ to \d+$/gm)).toHaveLength(1);
    });

    it('leaves an older warehouse alone when it only counts', async () => {
      const rig = await olderRig(database);
      const before = await contentOf(rig, database);
      const counted = await command(rig, ['erase', '--user', 'nobody', '--dry-run']);
      expect([counted.code, counted.stderr]).toEqual([2, expect.stringContaining('daywalk upgrade')]);
      const event = { hook_event_name: 'Stop', session_id: 's1' };
      const spool = join(tempDir(), 'spool');
      await daywalk(['hook', '--spool', spool], { env: envOf(rig), input: JSON.stringify(event) });
      expect(readdirSync(spool)).not.toEqual([]);
      const backup = join(tempDir(), 'b.db');
      expect((await command(rig, ['backup', backup])).code).toBe(2);
      expect(existsSync(backup)).toBe(false);
      expect(await contentOf(rig, database)).toEqual(before);
    });
  });

  describe('daywalk upgrade', () => {
    it('says what it would do, backs up what there is, and upgrades once', async () => {
      const rig = await olderRig(database);
      const known = schemaVersion(rig.path);
      const before = await contentOf(rig, database);
      const dry = await command(rig, [
        'upgrade',
        '--dry-run',
        '--json',
        '--backup',
        join(tempDir(), 'no.db'),
      ]);
      const [stored] = await rig.column<number>(HISTORY);
      expect(JSON.parse(dry.stdout)).toMatchObject({ from: stored, to: known, dry_run: true, backup: null });
      expect(await contentOf(rig, database)).toEqual(before);
      const backup = join(tempDir(), 'before.db');
      const upgraded = await command(rig, ['upgrade', '--backup', backup]);
      expect([upgraded.code, upgraded.stdout]).toEqual([
        0,
        expect.stringMatching(/^backed up to .*\nupgraded .* from version \d+ to \d+\n$/),
      ]);
      expect(await rig.column<number>(HISTORY)).toEqual([known]);
      const again = await command(rig, ['upgrade', '--backup', join(tempDir(), 'again.db')]);
      expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('nothing to do')]);
      // The backup has the schema of before, and all of its rows: restored and upgraded, it is the same warehouse.
      const anew = rigOver(rig.emulator, sqlite.place(), rig.today);
      writeFileSync(anew.path, readFileSync(backup));
      expect(await anew.column<number>(HISTORY)).toEqual([2]);
      expect((await command(anew, ['status'])).code).toBe(2);
      const restoring = rigOver(rig.emulator, sqlite.place(), rig.today);
      expect((await command(restoring, ['restore', backup])).code).toBe(0);
      expect(await restoring.digest()).toBe(await rig.digest());
      const units =
        'SELECT stream, date, state, rows, content_sha256 FROM export_units ORDER BY stream, date';
      expect(await restoring.sql(units)).toEqual(await rig.sql(units));
    });

    it('changes nothing if the backup cannot be written', async () => {
      const rig = await olderRig(database);
      const before = await contentOf(rig, database);
      const { code } = await command(rig, ['upgrade', '--backup', join(tempDir(), 'absent/b.db')]);
      expect(code).toBe(6);
      expect(await contentOf(rig, database)).toEqual(before);
    });
  });

  it('a test of a restore before an upgrade does not upgrade the warehouse', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await olderRig(database);
    const backup = join(tempDir(), 'b.db');
    await command(rig, ['upgrade', '--backup', backup]);
    const still = rigOver(rig.emulator, await restored('0.1.0', database), rig.today);
    const before = await contentOf(still, database);
    const tested = await command(still, ['restore', '--test', backup]);
    expect([tested.code, tested.stderr]).toEqual([0, expect.stringContaining('is not noted')]);
    expect(await contentOf(still, database)).toEqual(before);
  });

  it('a dashboard that finds an older schema says so, and goes on when it is upgraded', {
    tags: 'ci/rare',
  }, async () => {
    needsSessions(database);
    const rig = await olderRig(database);
    const stopping = new AbortController();
    const failures: unknown[] = [];
    const url = await new Promise<string>((resolve, reject) => {
      const dashboardListen = { host: '127.0.0.1', port: 0 };
      const context = {
        clock: systemClock(new Date(`${rig.today}T03:00:00Z`)),
        signal: stopping.signal,
        hintOf,
        report: (error: unknown) => failures.push(error),
      };
      const serving = serveDashboard({ ...rig.settings, dashboardListen }, {}, context, resolve);
      serving.catch(reject);
      onTestFinished(async () => {
        stopping.abort();
        await serving;
      });
    });
    const page = async () => {
      const answer = await fetch(new URL('/data', url));
      return [answer.status, await answer.text()] as const;
    };
    expect(await page()).toEqual([
      503,
      expect.stringMatching(/not upgraded yet[\s\S]*has version \d+, this program \d+[\s\S]*daywalk upgrade/),
    ]);
    expect((await command(rig, ['upgrade'])).code).toBe(0);
    expect(await page()).toEqual([200, expect.stringContaining('org_fixture')]);
    expect(failures[0]).toMatchObject({ reason: 'warehouse-is-older' });
  });

  it('an upgraded warehouse has the content that it had', async () => {
    const rig = await olderRig(database);
    await command(rig, ['upgrade']);
    const warehouse = await open(rig.place, { create: false });
    expect((await digestOf(warehouse)).tables).toMatchObject(keptFacts('0.1.0').digest.tables);
  });
});
