import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { RoundListener } from '../../../jobs/round.ts';
import { parseDay } from '../../../src/core/day.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig } from '../../support/rig/rig.ts';
import { serveHere } from '../../support/serve/service-in-process.ts';

const today = parseDay('2026-01-17');
const fakeClock = () => new FakeClock({ now: '2026-01-17T02:00:00Z', auto: true });

function statusOf(url: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(new URL('/livez', url), { method, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on('error', reject);
    call.end();
  });
}

describe('the rounds of the service', () => {
  it('follow the schedule, one line for each, and each begins at its tick', async () => {
    const rig = await createRig({ today, users: 5, reports: 2 });
    let rounds = 0;
    const service = await serveHere(rig, {
      clock: fakeClock(),
      schedule: '*/20 * * * *',
      onEvent: ({ type }, stop) => {
        if (type === 'round-ended' && ++rounds === 4) stop();
      },
    });
    await service.ended;
    const ticks = service.events.flatMap((event) => (event.type === 'tick' ? [event.tickAt] : []));
    expect(ticks).toEqual([null, ...['02:20', '02:40', '03:00'].map((at) => `2026-01-17T${at}:00.000Z`)]);
    const codes = service.events.flatMap((event) => (event.type === 'round-ended' ? [event.exitCode] : []));
    expect(codes).toEqual([0, 0, 0, 0]);
  });

  it('go on after a defect, and after settings that cannot be read', { tags: 'ci/rare' }, async () => {
    const rig = await createRig({ today, users: 5, reports: 2 });
    let rounds = 0;
    const broken: RoundListener = {
      begin: async () => {
        if (rounds === 0) throw new TypeError('a planted defect');
      },
    };
    const service = await serveHere(rig, {
      clock: fakeClock(),
      schedule: '*/20 * * * *',
      listeners: [broken],
      readSettings: () => {
        if (rounds === 1) throw new Error('a planted key file');
        return rig.settings;
      },
      onEvent: ({ type }, stop) => {
        if (type === 'round-ended' && ++rounds === 3) stop();
      },
    });
    await service.ended;
    const codes = service.events.flatMap((event) => (event.type === 'round-ended' ? [event.exitCode] : []));
    expect(codes).toEqual([1, 0, 0]);
    const failures = service.events.flatMap((event) => (event.type === 'serve-failed' ? [event.error] : []));
    expect(failures).toEqual(['a planted defect', 'a planted key file']);
  });

  it('use the key that is valid now', async () => {
    const rig = await createRig({ today, users: 5, reports: 2 });
    let rounds = 0;
    const service = await serveHere(rig, {
      clock: fakeClock(),
      schedule: '*/20 * * * *',
      settings: { ...rig.settings, apiKey: 'an-expired-key' },
      readSettings: () => (rounds === 0 ? { ...rig.settings, apiKey: 'an-expired-key' } : rig.settings),
      onEvent: ({ type }, stop) => {
        if (type === 'round-ended' && ++rounds === 2) stop();
      },
    });
    await service.ended;
    const codes = service.events.flatMap((event) => (event.type === 'round-ended' ? [event.exitCode] : []));
    expect(codes).toEqual([3, 0]);
  });

  it('wait for the run of another program, and say so once', { tags: 'ci/rare' }, async () => {
    const rig = await exportedRig({ today, users: 5, reports: 2 });
    const clock = new FakeClock({ now: '2026-01-17T02:00:00Z' });
    const other = await openWarehouse(rig.path, { clock, create: false });
    const lock = await other.lock({ exclusive: true });
    const service = await serveHere(rig, { clock });
    await clock.advance(60_000);
    const waits = () => service.events.filter(({ type }) => type === 'warning');
    expect(waits()).toHaveLength(1);
    expect(service.events.some(({ type }) => type === 'run-started')).toBe(false);
    await lock.release();
    await other.close();
    while (!service.events.some(({ type }) => type === 'round-ended')) await clock.advance(1_000);
    expect(service.events.find(({ type }) => type === 'round-ended')).toMatchObject({ exitCode: 0 });
    expect(waits()).toHaveLength(1);
  });

  it('make the service unready at once when it is asked to stop, while a round still ends', async () => {
    const rig = await createRig({ today, users: 5, reports: 2 });
    const stopping = new AbortController();
    let finish: () => void = () => undefined;
    const slow: RoundListener = {
      end: () => {
        stopping.abort();
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    };
    const service = await serveHere(rig, { clock: fakeClock(), listeners: [slow] });
    const ready = async () => (await fetch(new URL('/readyz', service.url))).status;
    expect(await ready()).toBe(200);
    await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve));
    const ended = service.stop();
    expect(await ready()).toBe(503);
    finish();
    await ended;
    await expect(ready()).rejects.toThrow('fetch failed');
  });

  it('answer to addresses and localhost only on loopback, and only to GET and HEAD', async () => {
    const rig = await createRig({ today, users: 5, reports: 2 });
    const { url } = await serveHere(rig, { clock: new FakeClock({ now: '2026-01-17T02:00:00Z' }) });
    const { host, port } = new URL(url);
    const hosts = [
      host,
      `localhost:${port}`,
      `[::1]:${port}`,
      '10.1.2.3',
      'evil.example',
      `127.0.0.1.evil.example`,
    ];
    const statuses = await Promise.all(hosts.map((name) => statusOf(url, { host: name })));
    expect(statuses).toEqual([200, 200, 200, 200, 421, 421]);
    const methods = await Promise.all(['HEAD', 'POST', 'DELETE'].map((method) => statusOf(url, {}, method)));
    expect(methods).toEqual([200, 405, 405]);
  });
});
