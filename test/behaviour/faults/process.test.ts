// @module-tag campaign/faults

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import {
  casesFor,
  expectRecovery,
  expectWholeUnits,
  smallRig,
  UNTIL,
} from '../../support/faults/three-day-walk.ts';
import { envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const MAIN = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));
const RUN = ['run', '--until', UNTIL, '--range-days', '1', '--concurrency', '2'];
const LATENCY_MS = 150;

onEachDatabase((database) => {
  testVariants(
    casesFor(database, [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const),
  )(
    'X3: %s ends the run within 5 seconds with exit code %i, and only whole units are stored',
    async (name, code) => {
      const rig = await smallRig(database, { latencyMs: LATENCY_MS });
      const { child, ended, stderr } = startDaywalk(RUN, { env: envOf(rig) });
      await expect.poll(stderr, { interval: 10 }).toContain('"event":"unit-done"');
      const asked = performance.now();
      child.kill(name);
      expect(await ended).toMatchObject({ code, signal: null });
      expect(performance.now() - asked).toBeLessThan(5_000 + BUSY_MACHINE_MS);
      await expectWholeUnits(rig);
      const units = Number(await rig.value('SELECT COUNT(*) FROM export_units'));
      expect(units).toBeGreaterThan(0);
      expect(units).toBeLessThan(16);
      rig.emulator.setLatency(0);
      await expectRecovery(rig);
    },
  );

  test('X3: SIGTERM ends a run in the same way when it is the first process of a container', {
    tags: 'ci/rare',
  }, async ({ skip }) => {
    skip(
      spawnSync('unshare', ['--pid', '--fork', 'true']).status !== 0,
      'this user may not make a namespace of processes',
    );
    const rig = await smallRig(database, { latencyMs: LATENCY_MS });
    const outer = spawn('unshare', ['--pid', '--fork', process.execPath, MAIN, ...RUN], {
      env: { PATH: process.env['PATH'] ?? '', ...envOf(rig) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void outer.kill('SIGKILL'));
    let stderr = '';
    outer.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk;
    });
    const ended = new Promise<number | null>((resolve) => outer.on('close', resolve));
    await expect.poll(() => stderr, { interval: 10 }).toContain('"event":"unit-done"');
    // Seen from outside, the first process of the namespace is the only child of the one that made it.
    const inner = Number(readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8').trim());
    expect(readFileSync(`/proc/${inner}/status`, 'utf8')).toMatch(/^NSpid:\s+\d+\s+1$/m);
    const asked = performance.now();
    process.kill(inner, 'SIGTERM');
    expect(await ended).toBe(143);
    expect(performance.now() - asked).toBeLessThan(5_000 + BUSY_MACHINE_MS);
    await expectWholeUnits(rig);
    rig.emulator.setLatency(0);
    await expectRecovery(rig);
  });
});
