import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';

/** Runs the program with umask 0. */
const OPEN_MASK = ['--import', 'data:text/javascript,process.umask(0)'];

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('Z4: every created file is accessible only by its owner, whatever the umask', {
  tags: 'ci/rare',
}, async () => {
  const rig = await createRig({ users: 3, reports: 1 });
  const cwd = tempDir();
  const run = async (args: readonly string[], input = '') => {
    const options = { cwd, env: envOf(rig, { DAYWALK_WAREHOUSE: 'w.db' }), nodeArgs: OPEN_MASK, input };
    const { code, stderr } = await daywalk(args, options);
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
  };
  await run(['hook'], '{"hook_event_name":"Stop","session_id":"s"}');
  await run(['hooks', 'install', '--file', 'hooks.json']);
  await run(['run', '--from', '2026-02-09']);
  await run(['hook'], '{"hook_event_name":"Stop","session_id":"s"}');
  await run(['publish', '--sqlite', 'bi.db', '--parquet', 'lake']);
  await run(['copy', '--to', 'other.db']);
  const made = Object.fromEntries(readdirSync(cwd).map((name) => [name, modeOf(join(cwd, name))]));
  expect(made).toMatchObject({
    'w.db': '600',
    'w.db.lock': '600',
    'w.db.spool': '700',
    'hooks.json': '600',
    'bi.db': '600',
    'other.db': '600',
    lake: '700',
  });
  const others = Object.entries(made).filter(([, mode]) => !/^[67]00$/.test(mode));
  // A lock without content is all that may be open.
  expect(others.filter(([name]) => statSync(join(cwd, name)).size > 0)).toEqual([]);
  const spooled = readdirSync(join(cwd, 'w.db.spool')).map((name) => modeOf(join(cwd, 'w.db.spool', name)));
  expect(new Set(spooled)).toEqual(new Set(['600']));
});

test('Z4: the log and index of an open warehouse are accessible only by their owner', async () => {
  const before = process.umask(0);
  try {
    const path = tempFile();
    const warehouse = await openWarehouse(path, { clock: new FakeClock({ auto: true }), create: true });
    await commitDay(warehouse, commitOf({ rows: { tokens_daily: [[1, 2, 3, 4, 5, null]] } }));
    for (const side of ['', '-wal', '-shm']) expect(modeOf(path + side), side).toBe('600');
    await warehouse.close();
  } finally {
    process.umask(before);
  }
});
