import { expect, test } from 'vitest';
import { daywalk, type Ended, envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';

const DAYS = ['--from', '2026-02-01', '--until', '2026-02-02'];
const SMALL = { users: 3, reports: 1 };

testVariants(['run', 'backfill'])(
  '%s --quiet prints nothing on success, and stores everything',
  async (command) => {
    const rig = await createRig(SMALL);
    const ended = await daywalk([command, ...DAYS, '--quiet'], { env: envOf(rig) });
    expect(ended).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
    expect(
      await rig.value("SELECT COUNT(*) FROM export_units WHERE state = 'loaded'"),
    ).toBeGreaterThanOrEqual(10);
  },
);

test('--quiet prints the same as without it when something went wrong', { tags: 'ci/rare' }, async () => {
  const rig = await createRig(SMALL);
  const env = envOf(rig, { DAYWALK_API_KEY: 'wrong', DAYWALK_LOG: 'pretty' });
  const loud = await daywalk(['run', ...DAYS], { env });
  const quiet = await daywalk(['run', ...DAYS, '--quiet'], { env });
  expect(loud.code).toBe(3);
  expect(loud.stderr).not.toBe('');
  const printed = ({ stdout, stderr }: Ended) =>
    `${stdout}\n${stderr}`.replace(/\d+(\.\d+)? m?s|[0-9a-f-]{36}/g, '');
  expect(printed(quiet)).toEqual(printed(loud));

  const usage = await daywalk(['run', '--from', '2026-99-99', '--quiet'], { env });
  expect(usage).toMatchObject({ code: 2, stderr: expect.stringContaining('2026-99-99') });
});

test('a quiet run that is stopped says so, also when a second signal ends it', {
  tags: 'ci/rare',
}, async () => {
  const rig = await createRig({ ...SMALL, latencyMs: 400 });
  for (const signals of [1, 2]) {
    rig.emulator.resetJournal();
    const { child, ended } = startDaywalk(['run', ...DAYS, '--range-days', '1', '--quiet'], {
      env: envOf(rig),
    });
    await expect.poll(() => rig.emulator.journal().requests, { interval: 10 }).toBeGreaterThan(1);
    for (let sent = 0; sent < signals; sent += 1) child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 143, stderr: expect.stringContaining('"event":"stopping"') });
  }
});
