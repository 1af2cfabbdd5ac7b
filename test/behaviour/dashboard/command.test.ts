import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { filledPlace } from '../../support/dashboard/serve.ts';
import { daywalk, type Running, startDaywalk } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const TOKEN = 'never-print-this-token-anywhere';

async function firstLine({ child }: Running): Promise<string> {
  const [chunk] = await once(child.stdout ?? child, 'data');
  return String(chunk).trim();
}

/** A dashboard that has no warehouse ends before it listens. */
const refused = (args: readonly string[], env: Record<string, string> = {}) =>
  daywalk(['dashboard', ...args], { cwd: tempDir(), env });

describe('daywalk dashboard', () => {
  testVariants([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('prints its address, and ends at %s although a connection is open', async (signal, code) => {
    const { location } = await filledPlace(sqlite);
    const running = startDaywalk(['dashboard', '--port', '0', '--warehouse', location], { cwd: tempDir() });
    const url = new URL(await firstLine(running));
    expect(url.hostname).toBe('127.0.0.1');
    const page = await fetch(new URL('/assets/style.css', url));
    expect(page.status).toBe(200);
    const idle = connect(Number(url.port), url.hostname);
    idle.on('error', () => undefined);
    await once(idle, 'connect');
    idle.write('GET / HTTP/1.1\r\nHost: ');
    const since = performance.now();
    running.child.kill(signal);
    expect((await running.ended).code).toBe(code);
    expect(performance.now() - since).toBeLessThan(4_000 + BUSY_MACHINE_MS);
    idle.destroy();
  });

  it('prints its address as JSON', { tags: 'ci/variant' }, async () => {
    const { location } = await filledPlace(sqlite);
    const args = ['dashboard', '--json', '--port', '0', '--warehouse', location];
    const running = startDaywalk(args, { cwd: tempDir() });
    expect(JSON.parse(await firstLine(running))).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    });
    running.child.kill('SIGTERM');
    await running.ended;
  });

  it('refuses what it cannot serve, with a remedy', { tags: 'ci/rare' }, async () => {
    const { location } = await filledPlace(sqlite);
    const missing = await refused([]);
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining('create it with daywalk run'),
    ]);
    const both = await refused(['--port', '1', '--listen', '127.0.0.1:2']);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('exclude each other')]);
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const inUse = await refused(['--port', port, '--warehouse', location]);
    taken.close();
    expect([inUse.code, inUse.stderr]).toEqual([2, expect.stringContaining('another port with --listen')]);
  });

  it('needs a token beyond this machine, and never prints it', { tags: 'ci/rare' }, async () => {
    const { location } = await filledPlace(sqlite);
    for (const listen of ['0.0.0.0:0', '[::]:0']) {
      const open = await refused(['--listen', listen, '--warehouse', location]);
      expect([listen, open.code, open.stderr]).toEqual([
        listen,
        2,
        expect.stringContaining('DAYWALK_DASHBOARD_TOKEN'),
      ]);
    }
    const short = await refused(['--warehouse', location], { DAYWALK_DASHBOARD_TOKEN: 'short-secret' });
    expect([short.code, short.stderr]).toEqual([2, expect.stringContaining('16 characters')]);
    expect(short.stderr).not.toContain('short-secret');
    const config = await daywalk(['config', '--json'], {
      cwd: tempDir(),
      env: { DAYWALK_DASHBOARD_TOKEN: TOKEN },
    });
    expect(config.stdout).toContain('DAYWALK_DASHBOARD_TOKEN');
    expect(config.stdout + config.stderr).not.toContain(TOKEN);
  });
});
