import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { ANSWERS, receiver } from '../../support/alerts/receiver.ts';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { freePort } from '../../support/network/free-port.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { startService } from '../../support/serve/service-process.ts';
import { tempDir, tempFile } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-27');
/** Every number of users takes long enough to be interrupted. */
const SLOW = { today, users: 60, latencyMs: 20 };

/** A limit that a process can only miss by being late is not missed several times in a row. */
const ALSO_WHEN_BUSY = { retry: 4 };

describe('daywalk serve', () => {
  it('runs at once, answers probes, and ends at SIGTERM while it waits although a connection is open', async () => {
    const rig = await createRig({ today });
    const service = await startService(envOf(rig));
    await service.logged('schedule-waits');
    expect(await service.get('/livez')).toEqual({ status: 200, text: 'alive\n' });
    expect(await service.get('/readyz')).toEqual({ status: 200, text: 'ready\n' });
    expect(await service.get('/healthz')).toEqual({
      status: 200,
      text: 'healthy: the last complete export of all expected streams ended at 2026-01-27T03:00Z\n',
    });
    expect((await service.get('/')).status).toBe(404);
    const idle = connect(Number(service.url.port), service.url.hostname);
    idle.on('error', () => undefined);
    await once(idle, 'connect');
    idle.write('GET /livez HTTP/1.1\r\nHost: ');
    const since = performance.now();
    service.child.kill('SIGTERM');
    const { code, stdout } = await service.ended;
    expect([code, stdout]).toEqual([143, `${service.url.origin}\n`]);
    expect(performance.now() - since).toBeLessThan(5_000 + BUSY_MACHINE_MS);
    idle.destroy();
  });

  it('does not run again after a restart', { tags: 'ci/variant' }, async () => {
    const rig = await createRig({ today });
    for (const expected of [['tick', 'round-ended'], []]) {
      const service = await startService(envOf(rig));
      await service.logged('schedule-waits');
      service.child.kill('SIGTERM');
      const { stderr } = await service.ended;
      const seen = ['tick', 'round-ended'].filter((event) => stderr.includes(`"event":"${event}"`));
      expect(seen).toEqual(expected);
    }
  });

  it('is not ready as soon as it is asked to stop in a run, ends within 5 seconds, and the restart resumes', {
    tags: 'ci/again',
  }, async () => {
    const rig = await createRig(SLOW);
    const service = await startService(envOf(rig));
    await service.logged('unit-done');
    const since = performance.now();
    service.child.kill('SIGTERM');
    await service.logged('stopping');
    const probe = await service.get('/readyz').catch(() => null);
    // It may have stopped listening already.
    expect(probe === null || probe.status === 503).toBe(true);
    expect((await service.ended).code).toBe(143);
    expect(performance.now() - since).toBeLessThan(5_000 + BUSY_MACHINE_MS);
    const again = await startService(envOf(rig));
    await again.logged('round-ended');
    again.child.kill('SIGTERM');
    expect((await again.ended).code).toBe(143);
    expect(await rig.value('SELECT MAX(exit_code) FROM export_runs WHERE exit_code <> 143')).toBe(0);
  });

  testVariants([
    ['the first', SLOW, 'unit-done', 1],
    ['the last', { today, users: 5 }, 'run-ended', 2],
  ])(
    'ends soon after SIGTERM although %s ping is never answered',
    { ...ALSO_WHEN_BUSY, tags: 'ci/rare' },
    async (_, size, event, pings) => {
      const rig = await createRig(size);
      const { url, received } = await receiver(ANSWERS.hangs);
      const service = await startService(envOf(rig, { DAYWALK_PING_URL: url }));
      await service.logged(event);
      while (received.length < pings) await delay(20);
      const since = performance.now();
      service.child.kill('SIGTERM');
      expect((await service.ended).code).toBe(143);
      // One second for the ping; without a signal it may take two and a half.
      expect(performance.now() - since).toBeLessThan(2_400);
    },
  );

  it('refuses what it cannot serve, with a remedy', { tags: 'ci/rare' }, async () => {
    const rig = await createRig({ today });
    const env = envOf(rig);
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const refusals: readonly (readonly [args: readonly string[], code: number, words: string])[] = [
      [['--schedule', '0 0 30 2 *'], 2, 'never comes'],
      [['--schedule', '* * * * *'], 2, '5 min is the shortest'],
      [['--schedule', 'every night'], 2, '0 3 * * * for every night at 03:00'],
      [['--schedule', '*/5 * * * *', '--jitter', '5m'], 2, 'choose a shorter --jitter'],
      [['--jitter', 'long'], 2, 'write it as 90s, 5m, 1h or 2d, at most 36500d'],
      [['--listen', `127.0.0.1:${port}`], 2, 'another port with --listen'],
      [['--warehouse', tempDir()], 2, 'name a file in it'],
      [['--warehouse', '/dev/null/daywalk.db'], 6, 'open the warehouse'],
      [['--warehouse', `postgres://127.0.0.1:${await freePort()}/test`], 6, 'ECONNREFUSED'],
    ];
    for (const [args, code, words] of refusals) {
      const refused = await daywalkInProcess(['serve', '--listen', '127.0.0.1:0', ...args], { env });
      expect([args, refused.code, refused.stderr]).toEqual([args, code, expect.stringContaining(words)]);
    }
    taken.close();
    const keyless = await daywalk(['serve'], { cwd: tempDir(), env: { DAYWALK_BASE_URL: rig.emulator.url } });
    expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringContaining('DAYWALK_API_KEY')]);
  });

  it('goes on without its warehouse, and its health says so', { tags: 'ci/variant' }, async () => {
    const rig = await createRig({ today });
    const path = tempFile();
    const service = await startService(envOf(rig, { DAYWALK_WAREHOUSE: path }));
    await service.logged('round-ended');
    expect((await service.get('/healthz')).status).toBe(200);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
    // A path with something like a key in it is left out.
    const text = expect.stringMatching(/^unhealthy: there is no warehouse at \S+\n$/);
    expect(await service.get('/healthz')).toEqual({ status: 503, text });
    expect((await service.get('/livez')).status).toBe(200);
    service.child.kill('SIGTERM');
    await service.ended;
  });
});

onEachDatabase((database) => {
  it('killed in runs, ends with the content of an undisturbed export', { tags: 'ci/again' }, async () => {
    const rig = await createRig(SLOW, { database });
    for (let kill = 1; kill <= 3; kill += 1) {
      const service = await startService(envOf(rig));
      await service.logged('unit-done', kill);
      await delay(40 * kill);
      service.child.kill('SIGKILL');
      expect((await service.ended).signal).toBe('SIGKILL');
    }
    const service = await startService(envOf(rig));
    await service.logged('round-ended');
    service.child.kill('SIGTERM');
    await service.ended;
    const calm = rigOver(rig.emulator, sqlite.place(), rig.today);
    await calm.run();
    expect(await rig.digest()).toBe(await calm.digest());
  });
});
