// @module-tag ci/upkeep
import { existsSync, linkSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { freePort } from '../../support/network/free-port.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { lie } from '../../support/trust/run-nights.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/troubleshooting.md'), 'utf8');
const SMALL = { today: parseDay('2026-01-24'), users: 4, reports: 2 };
const NOW = '2026-01-24T04:00:00Z';

type Env = Readonly<Record<string, string | undefined>>;

/** What a person sees of a command on a rig, and its exit code. */
async function see(rig: Rig, args: string, env: Env = {}): Promise<[code: number, seen: string]> {
  const all = Object.entries({ ...envOf(rig), DAYWALK_NOW: NOW, DAYWALK_LOG: 'pretty', ...env });
  const set = all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const { code, stdout, stderr } = await daywalkInProcess(args.split(' '), { env: Object.fromEntries(set) });
  return [code, (stdout + stderr).replaceAll(/\s+/g, ' ')];
}

/** A rig whose service has told these lies or has these faults, after a run. */
async function exported(rules: readonly object[] = []): Promise<Rig> {
  const rig = await createRig({ ...SMALL, rules: parseRules(rules) });
  await rig.run({ streams: undefined, settings: { attempts: 1 } });
  return rig;
}

const refusing = (status: number) => ({
  match: { stream: 'tools', day: '2026-01-20' },
  action: { type: 'status', status },
});

/** By heading of the page: the exit code, and how to see it. */
const SYMPTOMS: Readonly<Record<string, readonly [code: number, see: () => Promise<[number, string]>]>> = {
  'no API key is configured': [
    2,
    async () => see(await createRig(SMALL), 'run', { DAYWALK_API_KEY: undefined }),
  ],
  'the service refused the credential': [
    3,
    async () => see(await createRig(SMALL), 'run', { DAYWALK_API_KEY: 'wrong' }),
  ],
  'answered 403': [
    3,
    async () => {
      const rig = await createRig(SMALL);
      return see(rig, 'run', { DAYWALK_API_KEY: rig.emulator.keys.member });
    },
  ],
  'nothing listens there': [
    4,
    async () =>
      see(await createRig(SMALL), 'run --attempts 1', {
        DAYWALK_BASE_URL: `http://127.0.0.1:${await freePort()}`,
      }),
  ],
  'another run holds the warehouse …': [
    75,
    async () => {
      const rig = await exported();
      const warehouse = await openWarehouse(rig.path, { clock: systemClock(), create: false });
      const lock = await warehouse.lock();
      const seen = await see(rig, 'run');
      await lock.release();
      await warehouse.close();
      return seen;
    },
  ],
  'there is no day from … to …': [
    2,
    async () => see(await createRig(SMALL), 'run', { DAYWALK_FIRST_DAY: '2026-01-24' }),
  ],
  'the warehouse … has version …, this program …: upgrade': [
    2,
    async () => {
      const rig = await exported();
      await rig.place.execute(
        'DELETE FROM "__drizzle_migrations" WHERE created_at = (SELECT MAX(created_at) FROM "__drizzle_migrations")',
      );
      const [code, seen] = await see(rig, 'status');
      return [code, seen.replace(/(this program \d+) .*upgrade/, '$1: upgrade')];
    },
  ],
  'it is newer: update daywalk, or name another warehouse with --warehouse': [
    2,
    async () => {
      const rig = await exported();
      await rig.place.execute(
        `INSERT INTO "__drizzle_migrations" (id, hash, created_at) VALUES (1000, 'x', ${Date.UTC(2100)})`,
      );
      return see(rig, 'run');
    },
  ],
  'there is no warehouse at …, and none may be created': [
    6,
    async () => {
      const warehouse = join(tempDir(), 'gone.db');
      return see(await createRig(SMALL), 'run', { DAYWALK_CREATE: 'never', DAYWALK_WAREHOUSE: warehouse });
    },
  ],
  'the file … has … names (hard links)': [
    2,
    async () => {
      const rig = await exported();
      linkSync(rig.path, `${rig.path}.second`);
      return see(rig, 'run');
    },
  ],
  'the emails in … were hashed with another salt than the one given': [
    2,
    async () => {
      const rig = await createRig(SMALL);
      const env = { DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: 'a salt of the first night' };
      await see(rig, 'run', env);
      return see(rig, 'run', { ...env, DAYWALK_EMAIL_SALT: 'a salt of the second night' });
    },
  ],
  'the service answers for organization …': [
    5,
    async () => {
      const rig = await exported();
      const other = await createRig({ ...SMALL, orgId: 'org_another', seed: 99 });
      return see(rig, 'run', { DAYWALK_BASE_URL: other.emulator.url, DAYWALK_APP_URL: other.emulator.url });
    },
  ],
  'there is no warehouse at …': [
    2,
    async () => see(await createRig(SMALL), 'status', { DAYWALK_WAREHOUSE: join(tempDir(), 'none.db') }),
  ],
  'no such file or directory': [
    6,
    async () => see(await createRig(SMALL), 'run', { DAYWALK_WAREHOUSE: join(tempDir(), 'nowhere', 'w.db') }),
  ],
  'file is not a database': [
    6,
    async () => {
      const rig = await exported();
      writeFileSync(rig.path, 'no database'.repeat(1_000));
      return see(rig, 'status');
    },
  ],
  Holes: [0, async () => see(await exported([refusing(422)]), 'status')],
  'unhealthy: … expected days were never pulled': [
    1,
    async () => {
      const rig = await createRig(SMALL);
      await rig.run({ from: parseDay('2026-01-20') });
      return see(rig, 'status --health');
    },
  ],
  awaiting: [
    0,
    async () => {
      const rig = await createRig(SMALL);
      lie(rig, { lateDays: [parseDay('2026-01-23')] });
      await rig.run();
      return see(rig, 'status');
    },
  ],
  'Why units failed': [0, async () => see(await exported([refusing(422)]), 'status')],
  'Doubted: stored rows that the service no longer returns': [
    0,
    async () => {
      const rig = await createRig(SMALL);
      await rig.run({ now: parseDay('2026-01-22') });
      lie(rig, { lateDays: { tools: [parseDay('2026-01-20')] } });
      await rig.run({ now: parseDay('2026-01-23') });
      return see(rig, 'status');
    },
  ],
  Quarantine: [
    0,
    async () => {
      const operations = [{ op: 'remove', path: '/data/0/user_id' }];
      return see(
        await exported([
          { match: { stream: 'users', day: '2026-01-22' }, action: { type: 'patch', operations } },
        ]),
        'status',
      );
    },
  ],
  "this machine's clock says …, the service's says …": [
    0,
    async () => see(await createRig(SMALL), 'run', { DAYWALK_NOW: '2026-01-28T03:00:00Z' }),
  ],
  'healthy: the first complete export may take 6 hours': [
    0,
    async () => see(await exported([refusing(422)]), 'status --health'),
  ],
  'unhealthy: no complete export of all expected streams is on record': [
    1,
    async () =>
      see(await exported([refusing(422)]), 'status --health', { DAYWALK_NOW: '2026-01-24T10:00:00Z' }),
  ],
  'unhealthy: the last complete export of all expected streams ended at …, more than … hours ago': [
    1,
    async () => see(await exported(), 'status --health', { DAYWALK_NOW: '2026-01-26T10:00:00Z' }),
  ],
  'unhealthy: the last run ended with exit code …': [
    1,
    async () => {
      const rig = await exported();
      await see(rig, 'run', { DAYWALK_API_KEY: 'wrong' });
      return see(rig, 'status --health');
    },
  ],
  'unhealthy: … has no data from … to …, and had some in the week before': [
    1,
    async () => {
      const rig = await createRig(SMALL);
      lie(rig, { lateDays: { tools: daysFrom(parseDay('2026-01-20'), parseDay('2026-01-23')) } });
      await rig.run();
      return see(rig, 'status --health');
    },
  ],
  'from now on, … is expected of …; before, …': [
    0,
    async () => see(await exported(), 'run', { DAYWALK_STREAMS: 'tokens' }),
  ],
};

const headings = [...PAGE.matchAll(/^### `(.*)`\n([\s\S]*?)(?=\n##|$(?![\s\S]))/gm)];
/** Symptoms that another test produces, and which. */
const elsewhere = new Map(
  headings.flatMap(([, name = '', text = '']) => {
    const file = /<!-- produced by (\S+\.ts)/.exec(text)?.[1];
    return file === undefined ? [] : [[name, file] as const];
  }),
);

test('each symptom of docs/troubleshooting.md is produced by a test, and the page has each that is', () => {
  const names = headings.map(([, name = '']) => name).filter((name) => !elsewhere.has(name));
  expect(names).toEqual(Object.keys(SYMPTOMS));
  for (const file of elsewhere.values())
    expect(existsSync(join(import.meta.dirname, '../../..', file))).toBe(true);
});

test.each(Object.entries(SYMPTOMS))('a person sees: %s', async (name, [code, produce]) => {
  const parts = name.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const [seenCode, seen] = await produce();
  expect([seenCode, seen]).toEqual([code, expect.stringMatching(new RegExp(parts.join('.*')))]);
});
