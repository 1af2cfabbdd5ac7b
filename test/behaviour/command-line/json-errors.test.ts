import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { daywalkInProcess, type EndedHere } from '../../support/process/daywalk-in-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

/** The one line of JSON that a command wrote to standard error. */
function errorOf({ stderr }: EndedHere): unknown {
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(stderr);
}

describe('with logs as JSON, an error on standard error is one line of JSON', () => {
  test.each([
    ['that no command was given', ['--log', 'json']],
    ['an unknown command', ['rum', '--log', 'json']],
    ['an unknown flag', ['run', '--nope', '--log=json']],
    ['a flag without its value', ['run', '--log', 'json', '--from']],
    ['a flag with a wrong value', ['run', '--log', 'json', '--from', 'yesterday']],
    ['a setting with a wrong value', ['run', '--log', 'json', '--concurrency', 'many']],
    ['a setting that is missing', ['run', '--log', 'json']],
    ['a missing warehouse', ['status', '--log', 'json', '--warehouse', '/nonexistent/w.db']],
    ['help for an unknown command', ['help', 'nope', '--log', 'json']],
  ])('%s', async (_, args) => {
    const ended = await daywalkInProcess(args);
    expect([ended.code, ended.stdout]).toEqual([2, '']);
    expect(errorOf(ended)).toMatchObject({
      level: 'error',
      event: 'command-failed',
      message: expect.any(String),
      hint: expect.any(String),
      exitCode: 2,
    });
  });

  test.each([[[]], [['rum']], [['status', '--warehouse', '/nonexistent/w.db']]])(
    'set by the environment: daywalk %o',
    async (args) => {
      expect(errorOf(await daywalkInProcess(args, { env: { DAYWALK_LOG: 'json' } }))).toMatchObject({
        exitCode: 2,
      });
    },
  );

  test('set by .env', async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, '.env'), 'DAYWALK_LOG=json\nDAYWALK_CONCURRENCY=many\n');
    expect(errorOf(await daywalkInProcess(['run'], { cwd }))).toMatchObject({
      message: expect.stringContaining('"many" is not a whole number'),
      exitCode: 2,
    });
  });

  test('but plain text if a flag selects it, or if nothing is set', async () => {
    const env = { DAYWALK_LOG: 'json' };
    const args = ['status', '--warehouse', '/nonexistent/w.db'];
    expect((await daywalkInProcess([...args, '--log', 'pretty'], { env })).stderr).toMatch(
      /^daywalk: there is no/,
    );
    expect((await daywalkInProcess(args)).stderr).toMatch(/^daywalk: there is no/);
  });
});
