// @module-tag campaign/faults

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAIN, startDaywalk } from '../../support/process/daywalk-process.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';

const RUN = ['run', '--base-url', 'http://127.0.0.1:9'];
const KEY = 'key-of-nobody-7d1f';

/** True if this user may mount file systems in a new namespace. */
const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

/** Runs a command line in a folder that is deleted before the command begins. */
function inDeletedFolder(args: string): { status: number | null; stderr: string } {
  const folder = join(tempDir(), 'gone');
  mkdirSync(folder);
  const script = `cd '${folder}' && rmdir '${folder}' && exec '${process.execPath}' '${MAIN}' ${args}`;
  const { status, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  return { status, stderr };
}

describe('a deleted working folder', () => {
  test('ends a command with 2 and a message', () => {
    for (const args of ['status', `run --base-url http://127.0.0.1:9 --warehouse ${tempDir()}/w.db`]) {
      const { status, stderr } = inDeletedFolder(args);
      expect(status, stderr).toBe(2);
      expect(stderr).toMatch(/the working directory cannot be used.*\n.*change to an existing folder/);
      expect(stderr).not.toContain('defect');
    }
  });

  test('does not affect --help', () => {
    expect(inDeletedFolder('--help')).toEqual({ status: 0, stderr: '' });
  });
});

describe('S8: a read-only file system', () => {
  /** Runs command lines where one folder is such a file system; `prepare` runs while it can be written. */
  function onReadOnly(prepare: string, args: string): { status: number | null; stderr: string } {
    const folder = tempDir();
    const script = [
      `mount -t tmpfs tmpfs '${folder}'`,
      `cd '${folder}'`,
      prepare,
      `mount -o remount,ro '${folder}'`,
      `cd '${folder}'`,
      `exec '${process.execPath}' '${MAIN}' ${args}`,
    ].join(' && ');
    const env = { PATH: process.env['PATH'] ?? '', DAYWALK_API_KEY: KEY };
    const { status, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', script], {
      encoding: 'utf8',
      env,
    });
    return { status, stderr };
  }

  testVariants([
    ['run', ':', RUN.join(' ')],
    ['run on a warehouse that is there', `'${process.execPath}' '${MAIN}' hooks drain 2>&1`, RUN.join(' ')],
  ])(
    'S8: ends %s with 6 and names the remedy',
    leftOut(canMount ? null : 'this user may not mount'),
    (_, prepare, args) => {
      const { status, stderr } = onReadOnly(prepare, args);
      expect(status, stderr).toBe(6);
      expect(stderr).toContain('daywalk.db');
      expect(stderr).toContain('the file system is read-only: mount it for writing');
      expect(stderr).not.toContain('create the folder');
    },
  );

  test('S8: does not keep a command from reading', {
    tags: 'ci/rare',
    ...leftOut(canMount ? null : 'this user may not mount'),
  }, () => {
    const prepare = `'${process.execPath}' '${MAIN}' hooks drain 2>&1`;
    expect(onReadOnly(prepare, 'status')).toMatchObject({ status: 0 });
  });
});

testVariants([
  [
    'an unclosed quote',
    `DAYWALK_API_KEY="${KEY}\n`,
    /\.env line 2 begins a value with a quote that is not closed/,
  ],
  ['a line without =', `DAYWALK_API_KEY ${KEY}\n`, /\.env line 2 has no =/],
])('.env with %s ends a command with 2 and the line number, and shows no value', async (_, line, message) => {
  const cwd = tempDir();
  writeFileSync(join(cwd, '.env'), `# settings\n${line}`, { mode: 0o600 });
  const { code, stdout, stderr } = await startDaywalk(RUN, { cwd }).ended;
  expect(code, stderr).toBe(2);
  expect(stderr).toMatch(message);
  const shown = await startDaywalk(['config'], { cwd }).ended;
  expect(shown.code).toBe(2);
  expect(shown.stdout + shown.stderr).toMatch(message);
  expect([stdout, stderr, shown.stdout, shown.stderr].join()).not.toContain(KEY);
  rmSync(join(cwd, '.env'));
});
