import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { requireApi } from '../../../jobs/access.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { CANARY_KEY } from '../../support/rig/canary-key.ts';
import { createRig } from '../../support/rig/rig.ts';
import { problemOf, read, workingDirectory } from '../../support/settings/read-settings.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const CANARY = 'canary-4f1e9a';

function keyFile(content: string, mode = 0o600): string {
  const path = join(workingDirectory(), 'key');
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

describe('the API key', () => {
  test('O1: is trimmed, from a variable and from a file', () => {
    expect(read({ env: { DAYWALK_API_KEY: ` ${CANARY}\n` } }).settings.apiKey).toBe(CANARY);
    expect(read({ env: { DAYWALK_API_KEY_FILE: keyFile(`${CANARY}\r\n\n`) } }).settings.apiKey).toBe(CANARY);
  });

  test('in a file is found relative to the working directory', () => {
    const directory = workingDirectory('DAYWALK_API_KEY_FILE=key\n');
    writeFileSync(join(directory, 'key'), CANARY, { mode: 0o600 });
    expect(read({ directory }).settings.apiKey).toBe(CANARY);
  });

  test.each([
    ['', 'is empty'],
    ['  \n', 'is empty'],
    [`${CANARY}\n${CANARY}`, 'has a blank or a line break in it'],
    [`${CANARY} ${CANARY}`, 'has a blank or a line break in it'],
    [`Bearer ${CANARY}`, 'begins with "Bearer"'],
    [`"${CANARY}"`, 'is wrapped in quotes'],
    [`${CANARY}é`, 'has characters that cannot stand in an HTTP header'],
    [`${CANARY}\u0007`, 'has characters that cannot stand in an HTTP header'],
  ])('O1: %j is refused, and not shown', (text, message) => {
    for (const env of [{ DAYWALK_API_KEY: text }, { DAYWALK_API_KEY_FILE: keyFile(text) }]) {
      const problem = problemOf({ env });
      expect(problem).toContain(`the API key ${message}`);
      expect(problem).not.toContain(CANARY);
      expect(read({ env }).settings.apiKey).toBeNull();
    }
  });

  test('is never shown', () => {
    const { entries } = read({ env: { DAYWALK_API_KEY: CANARY, DAYWALK_EMAIL_SALT: CANARY } });
    expect(JSON.stringify(entries)).not.toContain(CANARY);
  });

  test('is not shown where the path of its file belongs', () => {
    const key = 'sk_live_0123456789abcdef';
    const { settings, entries } = read({ env: { DAYWALK_API_KEY_FILE: key } });
    const problem = problemOf({ env: { DAYWALK_API_KEY_FILE: key } });
    expect(problem).toContain('the value may be the key itself');
    expect(problem).not.toContain(key);
    expect(JSON.stringify({ settings, entries })).not.toContain(key);
    expect(problemOf({ env: { DAYWALK_API_KEY_FILE: 'missing/key.txt' } })).toContain('missing/key.txt');
  });

  test('cannot come from both a variable and a file of one source', () => {
    const env = { DAYWALK_API_KEY: CANARY, DAYWALK_API_KEY_FILE: keyFile(CANARY) };
    expect(problemOf({ env })).toContain(
      'DAYWALK_API_KEY and DAYWALK_API_KEY_FILE are both set in the environment',
    );
  });

  test('comes from the stronger source when two have it', () => {
    const file = keyFile('key-in-a-file');
    expect(read({ env: { DAYWALK_API_KEY: CANARY }, dotenv: `DAYWALK_API_KEY_FILE=${file}` })).toMatchObject({
      settings: { apiKey: CANARY },
      problems: [],
    });
    expect(read({ env: { DAYWALK_API_KEY_FILE: file }, dotenv: `DAYWALK_API_KEY=${CANARY}` })).toMatchObject({
      settings: { apiKey: 'key-in-a-file' },
      problems: [],
    });
  });

  test.each([
    ['DAYWALK_API_KEY', { env: { DAYWALK_API_KEY: CANARY } }],
    ['DAYWALK_API_KEY in .env line 1', { dotenv: `DAYWALK_API_KEY=${CANARY}` }],
    ['DAYWALK_API_KEY_FILE', () => ({ env: { DAYWALK_API_KEY_FILE: keyFile(CANARY) } })],
    ['DAYWALK_API_KEY_FILE in .env line 1', () => ({ dotenv: `DAYWALK_API_KEY_FILE=${keyFile(CANARY)}` })],
  ])('that is refused is looked for in %s', (place, sources) => {
    const { settings } = read(typeof sources === 'function' ? sources() : sources);
    expect(settings.keyVariables.apiKey).toBe(place);
  });

  test('comes from the file when the variable of the same source is empty', () => {
    const env = { DAYWALK_API_KEY: '', DAYWALK_API_KEY_FILE: keyFile(CANARY) };
    expect(read({ env })).toMatchObject({ settings: { apiKey: CANARY }, problems: [] });
  });
});

describe('a key file', () => {
  test('that is missing, a directory or too large is refused with its path', () => {
    const large = keyFile('x'.repeat(20_000));
    for (const path of ['/nowhere/key', workingDirectory(), large]) {
      expect(problemOf({ env: { DAYWALK_API_KEY_FILE: path } })).toContain(path);
    }
  });

  test.each([
    [0o600, 0],
    [0o400, 0],
    // As secrets are mounted into containers.
    [0o440, 0],
    [0o444, 1],
    [0o640, 1],
    [0o604, 1],
    [0o644, 1],
  ])('O1: of mode %o gets %i warnings', (mode, count) => {
    const path = keyFile(CANARY, mode);
    const { warnings, problems } = read({ env: { DAYWALK_API_KEY_FILE: path } });
    expect(problems).toEqual([]);
    expect(warnings).toHaveLength(count);
    if (count > 0)
      expect(warnings[0]).toMatchObject({
        message: expect.stringContaining(path),
        hint: `chmod 600 ${path}`,
      });
  });
});

describe('F2: a key file that blocks', () => {
  test('is refused before it is read, when it is a FIFO, a device or a folder', () => {
    const fifo = join(tempDir(), 'key');
    execFileSync('mkfifo', [fifo]);
    for (const path of [fifo, '/dev/zero', tempDir()]) {
      const problem = problemOf({ env: { DAYWALK_API_KEY_FILE: path } });
      expect(problem).toContain(`the key file ${path} is not a regular file`);
    }
  });

  test('is read through a link to a regular file, like mounted secrets', () => {
    const link = join(tempDir(), 'key');
    symlinkSync(keyFile(CANARY), link);
    expect(read({ env: { DAYWALK_API_KEY_FILE: link } }).settings.apiKey).toBe(CANARY);
  });

  test('ends the command with 2, and nobody is waited for who writes into it', async () => {
    const fifo = join(tempDir(), 'key');
    execFileSync('mkfifo', [fifo]);
    const env = { DAYWALK_BASE_URL: 'http://127.0.0.1:9', DAYWALK_API_KEY_FILE: fifo };
    const { code, stderr } = await daywalk(['run'], { env, cwd: tempDir() });
    expect(code, stderr).toBe(2);
    expect(stderr).toContain('is not a regular file');
  });
});

describe('a command that needs the service', () => {
  test('O1: refuses to start without a base URL or a key, and names the remedy', () => {
    expect(() => requireApi(read({}).settings)).toThrow(
      expect.objectContaining({ exitCode: 2, hint: expect.stringContaining('DAYWALK_BASE_URL') }),
    );
    expect(() => requireApi(read({ env: { DAYWALK_BASE_URL: 'https://api.example.com' } }).settings)).toThrow(
      expect.objectContaining({ exitCode: 2, hint: expect.stringContaining('DAYWALK_API_KEY_FILE') }),
    );
  });
});

describe('the hint of a refused key', () => {
  const hintOf = async (stream: string, env: Readonly<Record<string, string>>) => {
    const rules = parseRules([{ match: { stream }, action: { type: 'status', status: 401 } }]);
    const rig = await createRig({ users: 2, reports: 1, rules });
    const { code, stdout, stderr } = await daywalkInProcess(['run', '--from', '2026-02-09'], {
      env: { ...envOf(rig), DAYWALK_API_KEY: '', ...env },
    });
    expect(code).toBe(3);
    return (stdout + stderr).match(/check DAYWALK_\w*KEY\w*/g)?.at(-1);
  };
  const file = () => keyFile(CANARY_KEY);

  test.each([
    ['activity', 'DAYWALK_API_KEY', CANARY_KEY],
    ['activity', 'DAYWALK_API_KEY_FILE', undefined],
    ['readiness', 'DAYWALK_APP_API_KEY', CANARY_KEY.concat('2')],
    ['readiness', 'DAYWALK_APP_API_KEY_FILE', undefined],
  ])('names the variable that was used: %s, %s', async (stream, variable, key) => {
    const own = stream === 'readiness' ? { DAYWALK_API_KEY: CANARY_KEY } : {};
    const other = key ?? (stream === 'readiness' ? keyFile(CANARY_KEY.concat('2')) : file());
    expect(await hintOf(stream, { ...own, [variable]: other })).toBe(`check ${variable}`);
  });
});
