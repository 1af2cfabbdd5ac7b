// @module-tag campaign/chaos

import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contentTables } from '../../../schema/tables.ts';
import { parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { archivedRig } from '../../support/archive/archived-rig.ts';
import { type End, isServer, runKilledInLayerAt } from '../../support/chaos/run-and-kill.ts';
import { clear } from '../../support/chaos/scenes.ts';
import { contentOf, copy } from '../../support/copy/run-copy.ts';
import { eraseFrom } from '../../support/erase/erase-rig.ts';
import { placesOf } from '../../support/erase/search.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { pick, seeded } from '../../support/random/seed.ts';
import { rigOver } from '../../support/rig/rig.ts';
import { killsMax } from '../../support/suite/campaign-length.ts';
import { countUp } from '../../support/suite/campaign-totals.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { needsSessions, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { copyOf } from '../../support/warehouse/earlier-state.ts';

const FIRST = parseDay('2026-01-20');
const NIGHTS = killsMax(40, 5);
/** About half of them are active in the first days, and two of ten deeds erase one. */
const USERS = NIGHTS + 10;
/** Runs that a standby lacks. */
const RUNS_LOST = 3;
/** Kills come at one of so many statements or messages; many commands have ended before. */
const POINTS_MAX = 250;

type Deed =
  | 'run'
  | 'backup'
  | 'erase'
  | 'lose the warehouse'
  | 'lose both'
  | 'go back'
  | 'fork'
  | 'fail over'
  | 'fail over and lack an erasure'
  | 'fail over and lack people';

onEachDatabase((database) => {
  describe('nights with backups, restores, lost volumes, erasures and kills', () => {
    test(`end with the content of an undisturbed export, ${NIGHTS} times`, async () => {
      needsSessions(database);
      const random = seeded(`backups on ${database.name}`);
      const folder = tempDir();
      const [erasures, backups] = [join(tempDir(), 'erasures'), join(folder, 'backups')];
      const last = shiftDay(FIRST, NIGHTS);
      const rig = await archivedRig({ today: last, users: USERS, reports: 2 }, database, { erasures });
      await rig.run({ now: FIRST });
      // The undisturbed warehouse shares the key of the pseudonyms, and nothing else.
      const calm = rigOver(rig.emulator, await database.migrated(), last);
      await copy(rig.path, calm.path);
      await calm.place.execute("DELETE FROM archives; DELETE FROM export_state WHERE name = 'archives'");
      const env = (now: UtcDay) =>
        envOf(rig, {
          DAYWALK_ARCHIVE: rig.folder,
          DAYWALK_ERASURES: erasures,
          DAYWALK_NOW: `${now}T05:00:00Z`,
        });
      const gone: string[] = [];
      const people = join(tempDir(), 'people.csv');
      let loads = 0;
      let kills = 0;

      /** Runs a command until it is not killed. */
      const persist = async (now: UtcDay, command: readonly string[]): Promise<End> => {
        const subject = {
          path: rig.path,
          env: env(now),
          command: [...command, '--log', 'silent'],
          exitCode: 0,
        };
        const call = isServer(rig.path) ? 'socket' : 'statement';
        const n = random() < 0.5 ? 0 : Math.ceil(random() * POINTS_MAX);
        const first = await runKilledInLayerAt(subject, { call, n });
        if (!first.isKilled) return first;
        kills += 1;
        return runKilledInLayerAt(subject, { call: '', n: 0 });
      };
      const succeed = async (now: UtcDay, command: readonly string[]) => {
        const { code, said } = await persist(now, command);
        expect(code, `${command.join(' ')}: ${said}`).toBe(0);
      };
      let archiveWentBack = false;
      /**
       * Once the archive was lost, it may lack marks that a warehouse of another backup knows, and so may the warehouse: a person
       * accepts it.
       */
      const run = async (now: UtcDay) => {
        const { code, said } = await persist(now, ['run']);
        const [, id] =
          /(?:an older copy without them|another copy of it).*daywalk adopt ([0-9a-f-]{36})/s.exec(said) ??
          [];
        if (code !== 6 || id === undefined || !archiveWentBack) return expect(code, `run: ${said}`).toBe(0);
        await succeed(now, ['adopt', id]);
        await succeed(now, ['run']);
      };
      const backup = (now: UtcDay) =>
        succeed(now, ['backup', `${backups}/`, '--with-archive', '--keep', '5']);
      const chosen = () => {
        const names = readdirSync(backups).filter((name) => /^daywalk-\d+T\d+Z\.db$/.test(name));
        const [first = '', ...others] = names.map((name) => join(backups, name));
        return pick(random, [first, ...others]);
      };
      /** A run is refused, and goes on once a person has accepted what is there. */
      const refuse = async (now: UtcDay, words: string) => {
        const { code, stderr } = await daywalkInProcess(['run'], { env: env(now) });
        expect([code, stderr]).toEqual([6, expect.stringContaining(words)]);
        const id = /daywalk adopt ([0-9a-f-]{36})/.exec(stderr)?.[1] ?? '';
        await succeed(now, ['adopt', id]);
      };
      const erase = async (now: UtcDay) => {
        const [user] = await calm.column<string>(
          "SELECT user_id FROM user_daily WHERE user_id NOT LIKE 'erased%' ORDER BY user_id",
        );
        if (user === undefined) throw new Error('everybody was erased: there are too few users');
        gone.push(user);
        await succeed(now, ['erase', '--user', user]);
        await eraseFrom(calm, { user }, { archives: [] });
      };
      const deeds: Readonly<Record<Deed, (now: UtcDay) => Promise<void>>> = {
        run,
        backup,
        erase,
        'lose the warehouse': async (now) => {
          await clear(rig.place);
          await succeed(now, ['restore', chosen()]);
        },
        'lose both': async (now) => {
          archiveWentBack = true;
          await clear(rig.place);
          for (const name of readdirSync(rig.folder)) rmSync(join(rig.folder, name), { recursive: true });
          await succeed(now, ['restore', chosen(), '--with-archive']);
        },
        'go back': (now) => succeed(now, ['restore', chosen(), '--replace']),
        fork: async (now) => {
          const first = await copyOf(rig.place);
          await run(now);
          const second = await copyOf(rig.place);
          await first();
          await run(now);
          const third = await copyOf(rig.place);
          await second();
          await refuse(now, 'another copy of it, which was written too');
          await run(now);
          await third();
          await refuse(now, 'another copy of it, which was written too');
        },
        'fail over': async (now) => {
          const standby = await copyOf(rig.place);
          for (let n = 0; n < RUNS_LOST; n += 1) await run(now);
          await standby();
        },
        'fail over and lack an erasure': async (now) => {
          await run(now);
          const standby = await copyOf(rig.place);
          await erase(now);
          await standby();
          await refuse(now, 'the last acts (erasure)');
        },
        'fail over and lack people': async (now) => {
          await run(now);
          const standby = await copyOf(rig.place);
          loads += 1;
          writeFileSync(people, `user_id,team,valid_from\nuser_of_load_${loads},team ${loads},\n`);
          await succeed(now, ['people', 'load', people]);
          // The archive learns of the load from the next run.
          await run(now);
          await standby();
          await refuse(now, 'the last acts (pull, people)');
        },
      };
      // Each deed comes before any comes again.
      let bag: Deed[] = [];
      const drawn = (): Deed => {
        if (bag.length === 0) bag = Object.keys(deeds) as Deed[];
        const [deed = 'run'] = bag.splice(Math.floor(random() * bag.length), 1);
        return deed;
      };
      await backup(FIRST);
      for (let night = 1; night <= NIGHTS; night += 1) {
        const now = shiftDay(FIRST, night);
        const done = [drawn(), drawn()];
        for (const deed of done) await deeds[deed](now);
        await run(now);
        await calm.run({ now });
        const story = `night ${night}: ${done.join(', ')}`;
        expect(await contentOf(rig.path, contentTables), story).toEqual(
          await contentOf(calm.path, contentTables),
        );
        const searched = { place: rig.place, archive: rig.folder, spool: '' };
        expect(gone.length === 0 ? [] : await placesOf(gone, searched), story).toEqual([]);
        expect(existsSync(join(rig.folder, 'archive.db')), story).toBe(true);
      }
      countUp('kill points', `in nights with backups on ${database.name}`, kills);
    });
  });
});
