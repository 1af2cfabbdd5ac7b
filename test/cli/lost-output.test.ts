import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { daywalk, envOf } from '../support/daywalk.ts';
import { createRig, type Rig } from '../support/rig.ts';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
const RUN = 'run --from 2026-02-06 --streams tokens,users';

/** Runs a pipeline of the shell in which `daywalk` is the compiled program; answers the exit code of `daywalk`. */
async function shell(line: string, rig: Rig): Promise<{ code: number; output: string }> {
  const script = `daywalk() { "${process.execPath}" "${MAIN}" "$@"; }; ${line}`;
  // The service lives in this process, which therefore waits without blocking.
  const child = spawn('bash', ['-c', script], {
    env: { PATH: process.env['PATH'], ...envOf(rig) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const append = (chunk: Buffer) => {
    output += chunk;
  };
  child.stdout.on('data', append);
  child.stderr.on('data', append);
  const status = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  return { code: status, output };
}

const hasFullDevice = existsSync('/dev/full');

describe.skipIf(!hasFullDevice)('the data are safe when the output is lost:', () => {
  test.each([
    [
      'the reader of the log leaves',
      `daywalk ${RUN} --log json 2>&1 >/dev/null | head -1; exit \${PIPESTATUS[0]}`,
    ],
    ['the reader of the result leaves', `daywalk ${RUN} | true; exit \${PIPESTATUS[0]}`],
    ['the log disk is full', `daywalk ${RUN} --log json 2>/dev/full`],
    ['the disk of the result is full', `daywalk ${RUN} >/dev/full 2>/dev/null`],
    ['both are closed', `daywalk ${RUN} >&- 2>&-`],
  ])('%s', async (_, line) => {
    const rig = await createRig();
    const { code } = await shell(line, rig);
    expect(code).toBe(0);
    const digest = await rig.digest();
    expect(await rig.column('SELECT COUNT(*) FROM export_units')).toEqual([8]);
    expect(await rig.column('SELECT exit_code FROM export_runs')).toEqual([0]);

    const whole = await createRig();
    await daywalk(RUN.split(' '), { env: envOf(whole) });
    expect(digest).toBe(await whole.digest());
  });
});

describe('a result that is printed', () => {
  test('may be cut short by its reader', async () => {
    const rig = await createRig();
    const { code, output } = await shell(`daywalk schema | head -1; exit \${PIPESTATUS[0]}`, rig);
    expect({ code, output }).toEqual({ code: 0, output: '# The warehouse\n' });
  });

  test.skipIf(!hasFullDevice)('is not lost in silence on a full disk', async () => {
    const rig = await createRig();
    const { code, output } = await shell('daywalk schema >/dev/full', rig);
    expect(code).toBe(6);
    expect(output).toContain('write the result to standard output');
  });

  test('is whole when its reader is slow', () => {
    const line = `"${process.execPath}" "${MAIN}" schema --format json | (sleep 3; cat)`;
    const { stdout } = spawnSync('bash', ['-c', line], { encoding: 'utf8' });
    expect(JSON.parse(stdout).tables.length).toBeGreaterThan(20);
  });
});
