import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const CANARY = 'canary-4f1e9a';

test('config prints every value with its source, and no secrets', async () => {
  const cwd = tempDir();
  writeFileSync(join(cwd, '.env'), `DAYWALK_ATTEMPTS=9\nDAYWALK_EMAIL_SALT=${CANARY}\n`, { mode: 0o600 });
  const env = {
    DAYWALK_API_KEY: CANARY,
    DAYWALK_WAREHOUSE: `postgres://etl:${CANARY}@db/analytics`,
    DAYWALK_ATTEMPTS: '7',
  };
  const args = ['config', '--attempts', '3', '--settle-days', '5'];
  const { code, stdout, stderr } = await daywalkInProcess([...args, '--json'], { cwd, env });
  expect(code).toBe(0);
  const { settings } = JSON.parse(stdout);
  expect(settings).toMatchObject({
    DAYWALK_API_KEY: { flag: null, value: '[redacted]', source: 'environment' },
    DAYWALK_EMAIL_SALT: { value: '[redacted]', source: '.env line 2' },
    DAYWALK_WAREHOUSE: { value: 'postgres://etl:[redacted]@db/analytics', source: 'environment' },
    DAYWALK_ATTEMPTS: { flag: '--attempts', value: '3', source: 'flag' },
    DAYWALK_SETTLE_DAYS: { value: '5', source: 'flag' },
    DAYWALK_CONCURRENCY: { value: '8', source: 'default' },
    DAYWALK_BASE_URL: { value: null, source: 'not set' },
  });

  const table = await daywalkInProcess(args, { cwd, env });
  expect(table.stdout).toMatch(/^DAYWALK_ATTEMPTS +3 +flag$/m);
  expect(stdout + stderr + table.stdout + table.stderr).not.toContain(CANARY);
});

test('config lists every problem with its place and remedy, and exits with 2', async () => {
  const env = { DAYWALK_CONCURRENCY: '0', DAYWALK_LOG: 'loud', DAYWALK_API_KEY: `${CANARY} ${CANARY}` };
  const { code, stdout, stderr } = await daywalkInProcess(['config'], { cwd: tempDir(), env });
  expect(code).toBe(2);
  expect(stdout.match(/^error: /gm)).toHaveLength(3);
  expect(stdout.match(/^ {2}hint: /gm)).toHaveLength(3);
  expect(stdout + stderr).not.toContain(CANARY);
});

test('every command that succeeds warns about a misspelt variable', async () => {
  const { code, stderr } = await daywalkInProcess(['schema'], {
    cwd: tempDir(),
    env: { DAYWALK_CONCURENCY: '4' },
  });
  expect(code).toBe(0);
  expect(JSON.parse(stderr)).toMatchObject({ level: 'warn', hint: 'did you mean DAYWALK_CONCURRENCY?' });
});
