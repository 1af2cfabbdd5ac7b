// @module-tag ci/upkeep
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parseDays } from '../../../src/emulator/days.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { TODAY } from '../../support/emulator/probe.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

/** The programs of docs/emulator.md run as they are written there, against an emulator that listens on all addresses. */

const DOCS = readFileSync(new URL('../../../docs/emulator.md', import.meta.url), 'utf8');
const PROGRAM_MS = 120_000;
const TOKEN = 'token-of-the-documentation';

function block(fence: string): string {
  const code = new RegExp(`\`\`\`${fence}\n([\\s\\S]*?)\`\`\``).exec(DOCS)?.[1];
  if (code === undefined) throw new Error(`docs/emulator.md has no block of ${fence}`);
  return code;
}

/** Runs a program and returns what it prints; rejects if it fails. */
async function run(command: string, args: readonly string[], file: string): Promise<string> {
  const emulator = await startEmulator({ today: TODAY, token: TOKEN, host: '0.0.0.0' });
  onTestFinished(() => emulator.close());
  const path = join(tempDir(), file);
  writeFileSync(path, block({ py: 'python', mjs: 'js node', go: 'go' }[file.split('.')[1] ?? ''] ?? ''));
  const env = { ...process.env, EMULATOR_URL: emulator.url, EMULATOR_TOKEN: TOKEN };
  const { stdout } = await promisify(execFile)(command, [...args, path], { env, timeout: PROGRAM_MS });
  return stdout;
}

const succeeds = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

test('the program for Python', async ({ skip }) => {
  skip(!succeeds('python3', '-c', 'import requests'), 'there is no Python with requests');
  expect(await run('python3', [], 'usage.py')).toMatch(/^\d+ rows\n$/);
});

test('the program for Node', async () => {
  expect(await run(process.execPath, [], 'usage.mjs')).toBe('{"computerId":"computer-1","cwd":"/srv/app"}\n');
});

test('the program for Go', { timeout: PROGRAM_MS }, async ({ skip }) => {
  skip(!succeeds('go', 'version'), 'there is no Go');
  expect(await run('go', ['run'], 'usage.go')).toBe('7 days, 1 request\n');
});

test('the lines of given days', () => {
  expect(
    parseDays(block('json days'))
      .describe()
      .days.map(({ stream, rows }) => [stream, rows]),
  ).toEqual([
    ['readiness', 1],
    ['activity', 1],
    ['users', 1],
    ['tools', 0],
  ]);
});
