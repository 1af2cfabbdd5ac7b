import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../support/suite/temp-dir.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SETUP = join(ROOT, 'scripts/node-bin-setup');
const { version }: { version: string } = JSON.parse(readFileSync(join(SETUP, 'hashes.json'), 'utf8'));

/** Sets up the npm package `node` in a folder, as its install script does. */
function setUp(cwd: string, { before = '', of = version } = {}) {
  const script = `${before}; require(${JSON.stringify(SETUP)})(${JSON.stringify(of)})`;
  return spawnSync(process.execPath, ['--eval', script], { cwd, encoding: 'utf8' });
}

function withBinary(content: string): { folder: string; binary: string } {
  const folder = tempDir();
  const binary = join(folder, 'bin/node');
  mkdirSync(join(folder, 'bin'));
  writeFileSync(binary, content, { mode: 0o755 });
  return { folder, binary };
}

describe('the Node that npm ci installs', () => {
  test('is removed and not started if its hash is not in the repository, and the installation fails', () => {
    const folder = tempDir();
    const { folder: bad, binary } = withBinary(`#!/bin/sh\ntouch ${folder}/started\n`);
    const { status, stderr } = setUp(bad);
    expect(stderr).toMatch(/^npm package node: .+: the hash of the binary is not the one in hashes\.json\n$/);
    expect(status).toBe(1);
    expect(existsSync(binary)).toBe(false);
    expect(existsSync(join(folder, 'started'))).toBe(false);
  });

  test('is the one on the path where there is no binary for the platform', () => {
    const folder = tempDir();
    const before = `Object.defineProperty(process, 'arch', { value: 'riscv64' })`;
    expect(setUp(folder, { before })).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(join(folder, 'bin'))).toBe(false);
  });

  test('has the version for which there are hashes', () => {
    expect(setUp(tempDir(), { of: '22.0.0' })).toMatchObject({ status: 1, stdout: '' });
  });
});

describe('npm run check', () => {
  /** Checks a copy of what an installation reads. */
  function check(change: (folder: string) => void, ...args: string[]) {
    const folder = tempDir();
    for (const path of [
      'package.json',
      'package-lock.json',
      'scripts/check-install.mjs',
      'scripts/node-bin-setup',
    ])
      cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    change(folder);
    const run = (...flags: string[]) =>
      spawnSync(process.execPath, ['scripts/check-install.mjs', ...flags], { cwd: folder, encoding: 'utf8' });
    return { folder, run, ...run(...args) };
  }
  const LOCK = 'package-lock.json';
  const edit = (folder: string, path: string, change: (text: string) => string) =>
    writeFileSync(join(folder, path), change(readFileSync(join(folder, path), 'utf8')));
  const asNpmWrites = (folder: string) =>
    edit(folder, LOCK, (text) => text.replace(/,\n\s+"gypfile": false/, ''));

  test('accepts this repository', () => {
    expect(check(() => undefined)).toMatchObject({ status: 0, stderr: '' });
  });

  test('refuses a lockfile with which npm 10 would compile better-sqlite3, and repairs it', () => {
    const { status, stderr, folder, run } = check(asNpmWrites);
    expect(stderr).toContain('"gypfile": false');
    expect(status).toBe(1);
    expect(run('--repair')).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(folder, LOCK))).toEqual(readFileSync(join(ROOT, LOCK)));
  });

  test('refuses another version of Node than the one with hashes, and another binary', () => {
    const newer = check((folder) =>
      edit(folder, 'package.json', (text) => text.replace(`"node": "${version}"`, '"node": "22.99.0"')),
    );
    expect(newer).toMatchObject({ status: 1, stderr: expect.stringContaining('hashes.json') });
    const other = check((folder) => {
      mkdirSync(join(folder, 'node_modules/node/bin'), { recursive: true });
      writeFileSync(join(folder, 'node_modules/node/bin/node'), 'not the binary');
    });
    expect(other).toMatchObject({ status: 1, stderr: expect.stringContaining('is not the binary') });
  });
});
