import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { RoundListener, RoundReport } from '../../../jobs/round.ts';
import { parseDay } from '../../../src/core/day.ts';
import { EXIT } from '../../../src/core/exit-code.ts';
import { createMetrics } from '../../../src/serve/metrics/metrics.ts';
import { createServiceState } from '../../../src/serve/service-state.ts';
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

  it('leave the service unhealthy until a later run succeeds; a round that another run keeps out changes nothing', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await exportedRig({ today, users: 5, reports: 2 });
    const clock = new FakeClock({ now: '2026-01-17T04:00:00Z' });
    // The service has no such day yet, so the round cannot begin.
    const settings = { ...rig.settings, firstDay: parseDay('2026-03-01') };
    const metrics = await createMetrics({ clock, settings: () => settings });
    const rounds: RoundReport[] = [];
    const remember: RoundListener = { end: async (report) => void rounds.push(report) };
    const service = await serveHere(rig, {
      ...{ clock, settings, listeners: [metrics.listener, remember] },
      metricsText: ({ warehouse }) => metrics.text(warehouse),
    });
    const ask = async (path: string) => (await fetch(new URL(path, service.url))).text();
    const lastCode = async () => /^daywalk_last_run_exit_code.* (\d+)$/m.exec(await ask('/metrics'))?.[1];
    while (!service.events.some(({ type }) => type === 'round-ended')) await clock.advance(1_000);
    expect(await ask('/healthz')).toContain('unhealthy: there is no day from 2026-03-01');
    expect(await lastCode()).toBe('2');

    const [refused] = rounds;
    if (refused === undefined) throw new Error('no round has ended');
    const organizations = refused.organizations.map((each) => ({ ...each, exitCode: EXIT.busy }));
    const busy = { ...refused, exitCode: EXIT.busy, organizations };
    await metrics.listener.begin?.();
    metrics.listener.observe?.({ type: 'warning', message: '', hint: '', reason: 'runs-lost' });
    for (const round of [refused, busy]) {
      await metrics.listener.end?.(round);
      await metrics.listener.begin?.();
    }
    await metrics.listener.end?.(busy);
    expect(await lastCode()).toBe('2');
    expect(await ask('/metrics')).toContain('\ndaywalk_lost_runs 1\n');
    const state = createServiceState(clock);
    for (const round of [refused, busy]) state.ended(round);
    expect(state.lastRound).toBe(refused);

    const later = new FakeClock({ now: clock.now().toISOString(), auto: true });
    expect((await rig.run({ clock: later })).report.exitCode).toBe(0);
    await clock.advance(60_000);
    expect(await ask('/healthz')).toContain('healthy: the last complete export');
    expect(await lastCode()).toBe('0');
  });
});
