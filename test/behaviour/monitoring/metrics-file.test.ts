import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { metricsOf, seriesIn, seriesWith } from '../../support/monitoring/read-metrics.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { CANARY_KEY } from '../../support/rig/canary-key.ts';
import { contextOf, createRig, type Rig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const SMALL = { users: 3, reports: 1 };
const DAYS = ['--from', '2026-02-07', '--until', '2026-02-09'];

interface Rigged {
  readonly rig: Rig;
  readonly folder: string;
  readonly file: string;
  /** Runs an export of a few days that writes the file. */
  run(env?: Record<string, string>, file?: string): ReturnType<typeof daywalkInProcess>;
}

async function rigged(): Promise<Rigged> {
  const rig = await createRig(SMALL);
  const folder = tempDir();
  const file = join(folder, 'daywalk.prom');
  const run: Rigged['run'] = (env = {}, path = file) =>
    daywalkInProcess(['run', ...DAYS, '--metrics-file', path], { env: envOf(rig, env), cwd: folder });
  return { rig, folder, file, run };
}

const exitCodeIn = (file: string) =>
  Object.values(seriesWith(readFileSync(file, 'utf8'), 'daywalk_last_run_exit_code'));
const readableIn = (file: string) =>
  seriesWith(readFileSync(file, 'utf8'), 'readable')['daywalk_warehouse_readable'];

test('the file holds what a service gives, everybody may read it, and nothing else stays in the folder', async () => {
  const { rig, folder, file, run } = await rigged();
  const umask = process.umask(0o077);
  try {
    expect(await run({}, 'daywalk.prom')).toMatchObject({ code: 0 });
  } finally {
    process.umask(umask);
  }
  expect(readFileSync(file, 'utf8')).toBe(await metricsOf(rig));
  expect(statSync(file).mode & 0o777).toBe(0o644);
  expect(readdirSync(folder)).toEqual(['daywalk.prom']);
  expect(exitCodeIn(file)).toEqual([0]);
});

test('a failed run writes it too, and its next success replaces it', { tags: 'ci/rare' }, async () => {
  const { file, run } = await rigged();
  expect((await run()).code).toBe(0);
  expect((await run({ DAYWALK_API_KEY: 'another-key', DAYWALK_NOW: '2026-02-10T04:00:00Z' })).code).toBe(3);
  expect(exitCodeIn(file)).toEqual([3]);
  expect((await run({ DAYWALK_NOW: '2026-02-10T05:00:00Z' })).code).toBe(0);
  expect(exitCodeIn(file)).toEqual([0]);
});

test('a run that cannot begin writes what is known', async () => {
  const { rig, file, run } = await rigged();
  const { DAYWALK_API_KEY: _, ...env } = envOf(rig);
  const withoutKey = await daywalkInProcess(['run', ...DAYS, '--metrics-file', file], { env });
  expect(withoutKey).toMatchObject({ code: 2, stderr: expect.stringContaining('key') });
  expect([exitCodeIn(file), readableIn(file)]).toEqual([[2], 1]);
  rmSync(rig.path);
  await daywalkInProcess(['run', ...DAYS, '--metrics-file', file], { env });
  expect([exitCodeIn(file), readableIn(file)]).toEqual([[2], 0]);
  writeFileSync(rig.path, 'no database, but long enough to be read as one'.repeat(100));
  const { code } = await run();
  expect(code).toBeGreaterThan(0);
  expect([exitCodeIn(file), readableIn(file)]).toEqual([[code], 0]);
});

test('a run that another one keeps out reports the last run that took place', async () => {
  const { rig, file, run } = await rigged();
  expect((await run()).code).toBe(0);
  const { clock } = contextOf(rig.today);
  const warehouse = await openWarehouse(rig.path, { clock, create: false });
  const lock = await warehouse.lock();
  expect((await run()).code).toBe(75);
  expect(exitCodeIn(file)).toEqual([0]);
  await lock.release();
  await warehouse.close();
});

test('a path that cannot be written is refused before the first request', async () => {
  const { rig, folder, file, run } = await rigged();
  writeFileSync(join(folder, 'notes.txt'), 'notes of a person');
  writeFileSync(join(folder, 'target.prom'), '');
  symlinkSync(join(folder, 'target.prom'), join(folder, 'link.prom'));
  mkdirSync(join(folder, 'folder.prom'));
  const refused = ['notes.txt', 'link.prom', 'folder.prom', 'missing/daywalk.prom', '/dev/null', rig.path];
  writeFileSync(rig.path, 'SQLite format 3');
  for (const path of refused) {
    expect([path, await run({}, path)]).toEqual([
      path,
      expect.objectContaining({ code: 2, stderr: expect.stringContaining('write the metrics to') }),
    ]);
  }
  expect(rig.emulator.journal().requests).toBe(0);
  expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('notes of a person');
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  expect(existsSync(file)).toBe(false);
});

test('a folder that disappears during the run is a warning, and changes no exit code', async () => {
  const { rig, folder, run } = await rigged();
  const away = join(folder, 'collector');
  mkdirSync(away);
  const running = run({}, join(away, 'daywalk.prom'));
  while (rig.emulator.journal().requests === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  rmSync(away, { recursive: true });
  expect(await running).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('the metrics were not written'),
  });
});

test('a dry run writes no file', async () => {
  const { rig, folder } = await rigged();
  const args = ['run', '--dry-run', '--metrics-file', join(folder, 'daywalk.prom')];
  expect((await daywalkInProcess(args, { env: envOf(rig) })).code).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

test('jobs that write the same file at the same time leave the whole text of one of them', {
  tags: 'ci/rare',
}, async () => {
  const { rig, folder, file, run } = await rigged();
  expect((await run()).code).toBe(0);
  chmodSync(file, 0o600);
  const codes = await Promise.all(Array.from({ length: 4 }, () => run()));
  expect(codes.filter(({ code }) => code !== 0 && code !== 75)).toEqual([]);
  expect(readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)).toContain('no data');
  expect(readFileSync(file, 'utf8')).toBe(await metricsOf(rig));
  expect(statSync(file).mode & 0o777).toBe(0o644);
  expect(readdirSync(folder)).toEqual(['daywalk.prom']);
});

test('of three organizations, one with a refused key and one whose service is down, each has its own exit code', {
  tags: 'ci/rare',
}, async () => {
  const southKey = `${CANARY_KEY}-south`;
  const [north, south] = [await createRig(SMALL), await createRig({ ...SMALL, seed: 2, apiKey: southKey })];
  const folder = tempDir();
  const organizations = ['north', 'south', 'west'].map((name) => ({ name, apiKeyFile: `${name}.key` }));
  for (const { apiKeyFile } of organizations) {
    const key = apiKeyFile === 'south.key' ? southKey : CANARY_KEY;
    writeFileSync(join(folder, apiKeyFile), key, { mode: 0o600 });
  }
  const urls = [north.settings.baseUrl, south.settings.baseUrl, 'http://127.0.0.1:1'];
  const entries = organizations.map((each, index) => ({ ...each, baseUrl: urls[index] }));
  writeFileSync(join(folder, 'organizations.json'), JSON.stringify(entries));
  const { DAYWALK_API_KEY: _key, DAYWALK_BASE_URL: _url, DAYWALK_APP_URL: _app, ...env } = envOf(north);
  const round = (now: string) =>
    daywalkInProcess(
      [
        'run',
        ...DAYS,
        '--organizations',
        'organizations.json',
        '--metrics-file',
        'all.prom',
        '--attempts',
        '1',
      ],
      { env: { ...env, DAYWALK_NOW: now }, cwd: folder },
    );
  const series = () => seriesIn(readFileSync(join(folder, 'all.prom'), 'utf8'));
  const codes = () =>
    organizations.map(({ name }) => series().get(`daywalk_last_run_exit_code{organization="${name}"}`));
  await round('2026-02-10T03:00:00Z');
  expect(codes()).toEqual([0, 0, 4]);
  writeFileSync(join(folder, 'south.key'), 'another-key');
  expect((await round('2026-02-10T04:00:00Z')).code).toBe(3);
  expect(codes()).toEqual([0, 3, 4]);
  const success = (name: string) =>
    series().get(`daywalk_last_success_timestamp_seconds{organization="${name}",stream="users"}`);
  expect([success('north'), success('south'), success('west')]).toEqual(
    ['2026-02-10T04:00:00Z', '2026-02-10T03:00:00Z', 0].map((at) => new Date(at).getTime() / 1000),
  );
});
