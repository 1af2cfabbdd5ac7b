import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { tempDir } from '../../support/suite/temp-dir.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test('help, version and usage errors load only commander, so they start fast', () => {
  const directory = tempDir();
  cpSync(join(root, 'dist'), join(directory, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(directory, 'package.json'));
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(join(root, 'node_modules/commander'), join(directory, 'node_modules/commander'));

  const main = join(directory, 'dist/src/cli/main.js');
  const call = (...args: string[]) =>
    spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', cwd: directory });
  expect(call('--help')).toMatchObject({
    status: 0,
    stderr: '',
    stdout: expect.stringContaining('Commands:'),
  });
  expect(call('run', '--help')).toMatchObject({ status: 0, stderr: '' });
  expect(call('--version').stdout).toMatch(/^daywalk \d+\.\d+\.\d+ \(node v/);
  expect(call('rum').status).toBe(2);
  expect(call('config').status).toBe(0);
  // Proves that the folder really lacks what a job needs.
  expect(call('status')).toMatchObject({ status: 2, stderr: expect.stringContaining('load better-sqlite3') });
});
