import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { envOf, MAIN } from '../../support/process/daywalk-process.ts';
import { createRig, type Rig, rigOver } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const RUN = 'run --from 2026-02-06 --streams tokens,users';

/** Runs a shell pipeline in which `daywalk` is the compiled program; returns the exit code of `daywalk`. */
async function shell(line: string, rig?: Rig): Promise<{ code: number; output: string }> {
  const script = `daywalk() { "${process.execPath}" "${MAIN}" "$@"; }; ${line}`;
  // The service lives in this process, which therefore waits without blocking.
  const child = spawn('bash', ['-c', script], {
    env: { PATH: process.env['PATH'], ...(rig && envOf(rig)) },
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
const NO_FULL_DEVICE = 'this machine has no /dev/full';

describe('all data are stored when the output is lost:', () => {
  beforeEach(({ skip }) => skip(!hasFullDevice, NO_FULL_DEVICE));

  testVariants([
    [
      'the reader of the log leaves',
      `daywalk ${RUN} --log json 2>&1 >/dev/null | head -1; exit \${PIPESTATUS[0]}`,
    ],
    ['the reader of the result leaves', `daywalk ${RUN} | true; exit \${PIPESTATUS[0]}`],
    ['the log disk is full', `daywalk ${RUN} --log json 2>/dev/full`],
    ['the disk of the result is full', `daywalk ${RUN} >/dev/full 2>/dev/null`],
    ['both are closed', `daywalk ${RUN} >&- 2>&-`],
  ])('X5: %s', { tags: 'ci/rare' }, async (_, line) => {
    const rig = await createRig();
    const { code } = await shell(line, rig);
    expect(code).toBe(0);
    const digest = await rig.digest();
    expect(await rig.column('SELECT COUNT(*) FROM export_units')).toEqual([8]);
    expect(await rig.column('SELECT exit_code FROM export_runs')).toEqual([0]);

    const whole = rigOver(rig.emulator, sqlite.place());
    await whole.run({ from: parseDay('2026-02-06'), streams: ['tokens', 'users'] });
    expect(digest).toBe(await whole.digest());
  });
});

describe('a printed result', () => {
  let slowlyRead: ReturnType<typeof shell>;
  // While the reader sleeps, the other tests go on.
  beforeAll(() => {
    slowlyRead = shell('daywalk schema --format json | (sleep 1; cat)');
  });

  test('may be cut short by its reader', async () => {
    const { code, output } = await shell(`daywalk schema | head -1; exit \${PIPESTATUS[0]}`);
    expect({ code, output }).toEqual({ code: 0, output: '# The warehouse\n' });
  });

  test('reports a full disk instead of getting lost silently', async ({ skip }) => {
    skip(!hasFullDevice, NO_FULL_DEVICE);
    const { code, output } = await shell('daywalk schema >/dev/full');
    expect(code).toBe(6);
    expect(output).toContain('write the result to standard output');
  });

  test('reports it also if it is a help text, the version or a forecast', { tags: 'ci/rare' }, async ({
    skip,
  }) => {
    skip(!hasFullDevice, NO_FULL_DEVICE);
    for (const line of ['daywalk --help', 'daywalk --version', 'daywalk run --dry-run']) {
      const { code, output } = await shell(`${line} >/dev/full`, await createRig());
      expect([line, code, output]).toEqual([
        line,
        6,
        expect.stringContaining('write the result to standard output'),
      ]);
    }
  });

  test('with --json also reports it for a run, whose data are stored', { tags: 'ci/rare' }, async ({
    skip,
  }) => {
    skip(!hasFullDevice, NO_FULL_DEVICE);
    const rig = await createRig();
    const { code, output } = await shell(`daywalk ${RUN} --json >/dev/full`, rig);
    expect(code).toBe(6);
    expect(output).toContain('write the result to standard output');
    expect(await rig.column('SELECT exit_code FROM export_runs')).toEqual([0]);
  });

  test('is complete when its reader is slow', async () => {
    expect(JSON.parse((await slowlyRead).output).tables.length).toBeGreaterThan(20);
  });
});
