// @module-tag campaign/faults

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { smallRig } from '../../support/faults/three-day-walk.ts';
import { envOf, MAIN } from '../../support/process/daywalk-process.ts';
import { leftOut } from '../../support/suite/left-out.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const ENTRY = join(import.meta.dirname, '../../../scripts/container-entry.sh');
const SIGTERM_BIT = 1n << 14n;
const canMakeNamespaces = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;

/** The process that is the first one of the namespace, once it listens for SIGTERM. */
async function listeningFirst(outer: number): Promise<number> {
  const deadline = performance.now() + 20_000;
  while (performance.now() < deadline) {
    const inner = Number(readFileSync(`/proc/${outer}/task/${outer}/children`, 'utf8').trim());
    if (inner !== 0 && listensForTerm(inner)) return inner;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error('it never listened');
}

function listensForTerm(pid: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const caught = BigInt(`0x${/^SigCgt:\s+([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return /^NSpid:\s+\d+\s+1$/m.test(status) && (caught & SIGTERM_BIT) !== 0n;
}

testVariants([0, 10, 30, 60, 100, 200])(
  'X3: SIGTERM %i ms after the start of a container ends it with 143',
  leftOut(canMakeNamespaces ? null : 'this user may not make a PID namespace'),
  async (delayMs) => {
    const rig = await smallRig(sqlite, { latencyMs: 300 });
    // As in the image, with this build in the place of the image's.
    const entry = join(tempDir(), 'entry.sh');
    const text = readFileSync(ENTRY, 'utf8');
    writeFileSync(entry, text.replace('node /app/dist/src/cli/main.js', `${process.execPath} ${MAIN}`));
    const outer = spawn('unshare', ['--pid', '--fork', '/bin/sh', entry, 'run', '--range-days', '1'], {
      env: { PATH: process.env['PATH'] ?? '', ...envOf(rig) },
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    onTestFinished(() => void outer.kill('SIGKILL'));
    const ended = new Promise<number | null>((resolve) => outer.on('close', resolve));
    const first = await listeningFirst(outer.pid ?? 0);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const asked = performance.now();
    process.kill(first, 'SIGTERM');
    expect(await ended).toBe(143);
    expect(performance.now() - asked).toBeLessThan(5_000 + BUSY_MACHINE_MS);
  },
);

testVariants([0, 3, 5])('X3: the container entry passes on the exit code %i', (code) => {
  const entry = join(tempDir(), 'entry.sh');
  writeFileSync(entry, readFileSync(ENTRY, 'utf8').replace('node /app/dist/src/cli/main.js', 'sh -c'));
  const ended = spawnSync('/bin/sh', [entry, `read -r line; echo "got $line"; exit ${code}`], {
    input: 'text\n',
  });
  expect({ code: ended.status, stdout: String(ended.stdout) }).toEqual({ code, stdout: 'got text\n' });
});
