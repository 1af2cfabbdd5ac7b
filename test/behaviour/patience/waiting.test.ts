// @module-tag campaign/pace

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import type { Rule } from '../../../src/emulator/faults/rules.ts';
import type { RunEvent } from '../../../src/pipeline/events.ts';
import { createMetrics } from '../../../src/serve/metrics/metrics.ts';
import { type KeptWarehouse, openWarehouse } from '../../../src/warehouse/index.ts';
import { receiver } from '../../support/alerts/receiver.ts';
import { round } from '../../support/alerts/round.ts';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import { openGate } from '../../support/network/gate.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { createRig, type Rig, rigOver } from '../../support/rig/rig.ts';
import { serveHere } from '../../support/serve/service-in-process.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-24');
const SMALL = { today, users: 10, reports: 3 };
const MINUTE_MS = 60_000;
/** A minute passes in a twentieth of a second. */
const clock = hurriedClock(`${today}T03:00:00Z`, 1_200);
const DOWN: Rule = { id: 'down', action: { type: 'status', status: 503 } };

async function undisturbed(rig: Rig): Promise<string> {
  const other = rigOver(rig.emulator, sqlite.place(), rig.today);
  expect((await other.run()).report.exitCode).toBe(0);
  return other.digest();
}

const waitsOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) =>
    event.type === 'wait-began' ? ['began'] : event.type === 'wait-ended' ? [event.end] : [],
  );

onEachDatabase((database) => {
  describe('a service that is down at the start of a night', () => {
    test('is waited for, and the night ends with everything that an undisturbed one stores', async () => {
      const rig = await createRig(SMALL, { database, patience: 30 * MINUTE_MS });
      const gate = await openGate(rig.emulator.url);
      const settings = { baseUrl: gate.url, appUrl: gate.url };
      expect((await rig.run({ settings, until: parseDay('2026-01-16') })).report.exitCode).toBe(0);
      await gate.shut();
      const { report, events } = await rig.run({
        ...{ settings, clock },
        onEvent: ({ type }) => {
          if (type === 'wait-began') void delay(150).then(gate.open);
        },
      });
      expect([report.exitCode, report.problems]).toEqual([0, []]);
      expect(waitsOf(events)).toEqual(['began', 'answered']);
      expect(await rig.digest()).toBe(await undisturbed(rig));
    });

    test('ends the night with exit code 4 when the patience is over, and nothing is lost', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig(SMALL, { database, patience: 30 * MINUTE_MS });
      await rig.run({ until: parseDay('2026-01-16') });
      rig.emulator.setRules([DOWN]);
      rig.emulator.resetJournal();
      const { report, events } = await rig.run({ clock, settings: { patience: 5 * MINUTE_MS } });
      expect(report.exitCode).toBe(4);
      expect(waitsOf(events)).toEqual(['began', 'over']);
      expect(report.problems[0]?.message).toMatch(
        /^GET \S+: http:\/\/127\.0\.0\.1:\d+ has not answered since 2026-01-24T0/,
      );
      expect(report.problems[0]?.hint).toContain('the run resumes');
      // Three attempts, six probes in the first minute, and one for each half of a minute.
      expect(rig.emulator.journal().requests).toBeLessThanOrEqual(3 + 6 + 10);
      rig.emulator.setRules([]);
      expect((await rig.run()).report.exitCode).toBe(0);
      expect(await rig.digest()).toBe(await undisturbed(rig));
    });
  });
});

describe('a service that goes down in a run', () => {
  test('is waited for once for all requests, with one probe at a time', { tags: 'ci/rare' }, async () => {
    const rig = await createRig(SMALL, { patience: 30 * MINUTE_MS });
    rig.emulator.setRules([{ ...DOWN, when: { after: 9 } }]);
    let asked = 0;
    const { report, events } = await rig.run({
      ...{ clock, settings: { concurrency: 8, rangeDays: 1 } },
      onEvent: ({ type }) => {
        if (type !== 'wait-began') return;
        asked = rig.emulator.journal().requests;
        void delay(400).then(() => {
          // Eight minutes: probes after 1, 2, 4, 8, 16 and then every 30 seconds.
          expect(rig.emulator.journal().requests - asked).toBeLessThanOrEqual(5 + 20);
          rig.emulator.setRules([]);
        });
      },
    });
    expect([report.exitCode, report.unitsFailed]).toEqual([0, 0]);
    expect(waitsOf(events)).toEqual(['began', 'answered']);
    expect(await rig.digest()).toBe(await undisturbed(rig));
  });

  test('without a word, and without an end of its connections, is probed again after the time limit of a request', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createRig(SMALL, { patience: 30 * MINUTE_MS });
    await rig.run({ until: parseDay('2026-01-16') });
    // The request, and the first probe.
    rig.emulator.setRules([{ id: 'silent', when: { count: 2 }, action: { type: 'hang' } }]);
    const settings = { attempts: 1, requestTimeoutMs: 1_000 };
    const { report, events } = await rig.run({ clock, settings });
    expect([report.exitCode, waitsOf(events)]).toEqual([0, ['began', 'answered']]);
  });

  test('with both of its hosts, one after the other, is waited for until both are back', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createRig(SMALL, { patience: 300 * MINUTE_MS });
    const [base, app] = [await openGate(rig.emulator.url), await openGate(rig.emulator.url)];
    const settings = { baseUrl: base.url, appUrl: app.url, rangeDays: 1, attempts: 1 };
    await rig.run({ settings, until: parseDay('2026-01-16') });
    // A request that is under way when the second host goes down.
    const match = { stream: 'users', day: parseDay('2026-01-17') } as const;
    rig.emulator.setRules([{ match, action: { type: 'delay', ms: 60_000 } }]);
    await app.shut();
    let waits = 0;
    const { report } = await rig.run({
      ...{ settings, clock },
      onEvent: (event) => {
        waits += Number(event.type === 'wait-began');
        // While only the application host is down, days are pulled.
        if (event.type === 'unit-done' && event.stream === 'tokens' && event.day === '2026-01-23')
          void base.shut();
        if (event.type !== 'wait-began' || waits < 2) return;
        rig.emulator.setRules([]);
        void Promise.all([base.open(), app.open()]);
      },
    });
    expect([report.exitCode, waits]).toEqual([0, 2]);
    expect(await rig.digest()).toBe(await undisturbed(rig));
  });

  test('and then refuses the key ends the run with exit code 3', async () => {
    const rig = await createRig(SMALL, { patience: 30 * MINUTE_MS });
    await rig.run({ until: parseDay('2026-01-16') });
    rig.emulator.setRules([DOWN]);
    const { report, events } = await rig.run({
      clock,
      onEvent: ({ type }) => {
        if (type === 'wait-began')
          rig.emulator.setRules([{ id: 'denied', action: { type: 'status', status: 401 } }]);
      },
    });
    expect(report.exitCode).toBe(3);
    expect(waitsOf(events)).toEqual(['began', 'answered']);
  });

  test('is waited for no longer than the budget of requests lasts, which probes use up too', async () => {
    const rig = await createRig(SMALL, { patience: 30 * MINUTE_MS });
    await rig.run({ until: parseDay('2026-01-16') });
    rig.emulator.setRules([DOWN]);
    rig.emulator.resetJournal();
    const { report, events } = await rig.run({ clock, settings: { maxRequests: 9 } });
    expect([report.exitCode, report.requests, rig.emulator.journal().requests]).toEqual([4, 9, 9]);
    expect(report.problems[0]?.message).toMatch(/9 requests .* are sent/);
    expect(waitsOf(events)).toEqual(['began', 'left']);
    expect(report.unitsFailed).toBe(0);
  });

  test('is not waited for without patience', async () => {
    const rig = await createRig(SMALL, { patience: 30 * MINUTE_MS });
    await rig.run({ until: parseDay('2026-01-16') });
    rig.emulator.setRules([DOWN]);
    rig.emulator.resetJournal();
    const { report, events } = await rig.run({ clock, settings: { patience: 0 } });
    expect([report.exitCode, waitsOf(events)]).toEqual([4, []]);
    expect(rig.emulator.journal().requests).toBe(3 * 6);
  });
});

describe('a host that has answered a run without patience', () => {
  test('is waited for by the next one that has some: the first run is often made by hand', async () => {
    const rig = await createRig(SMALL);
    expect((await rig.run({ until: parseDay('2026-01-16') })).report.exitCode).toBe(0);
    rig.emulator.setRules([DOWN]);
    const { report, events } = await rig.run({
      ...{ clock, settings: { patience: 30 * MINUTE_MS } },
      onEvent: ({ type }) => void (type === 'wait-began' && rig.emulator.setRules([])),
    });
    expect([report.exitCode, waitsOf(events)]).toEqual([0, ['began', 'answered']]);
  });
});

describe('what has never answered this warehouse', () => {
  test('ends the run as it did: nothing listens there, or its name is not known', async () => {
    const rig = await createRig(SMALL, { patience: 30 * MINUTE_MS });
    const gate = await openGate(rig.emulator.url);
    await gate.shut();
    expect((await rig.run({ until: parseDay('2026-01-16') })).report.exitCode).toBe(0);
    for (const baseUrl of [gate.url, 'https://no-such-host.invalid']) {
      const { report, events } = await rig.run({ clock, settings: { baseUrl, appUrl: baseUrl } });
      expect([report.exitCode, waitsOf(events)]).toEqual([4, []]);
    }
  });
});

describe('while a run waits', () => {
  test('status and pings say since when, and a killed run does not count', {
    tags: 'ci/variant',
  }, async () => {
    const rig = await createRig(SMALL, { patience: 30 * MINUTE_MS });
    await rig.run({ until: parseDay('2026-01-16') });
    rig.emulator.setRules([DOWN]);
    const { url, received } = await receiver();
    const ran = round(rig, { alerts: { pingUrl: url }, settings: { attempts: 1 } });
    const status = async () => {
      const { stdout } = await daywalkInProcess(['status', '--json'], { env: envOf(rig) });
      return JSON.parse(stdout).waiting;
    };
    while ((await status()) === null) await delay(20);
    expect(await status()).toMatchObject({ host: rig.emulator.url, since: expect.stringMatching(/^2026-/) });
    const text = (await daywalkInProcess(['status'], { env: envOf(rig) })).stdout;
    expect(text).toMatch(/run +waiting for the service since 2026-\S+, until 2026-\S+ at most/);
    rig.emulator.setRules([]);
    expect((await ran).report.exitCode).toBe(0);
    expect(await status()).toBe(null);
    expect(received.map(({ path }) => path.replace(/.*\//, ''))).toEqual([
      'start',
      'log',
      expect.not.stringMatching(/\d/),
    ]);
    expect(received[1]?.body).toMatch(/^waiting for the service since 2026-/);
    // What a run leaves that is killed in its wait.
    await rig.sql(
      `INSERT INTO export_state VALUES ('', 'waiting-for-service', '[{"worker":"w","host":"h","since":"s","until":"u"}]') RETURNING 1`,
    );
    expect(await status()).toBe(null);
  });

  test('SIGTERM ends it at once, with 143', { tags: 'ci/variant' }, async () => {
    const rig = await createRig(SMALL, { patience: 30 * MINUTE_MS });
    await rig.run({ until: parseDay('2026-01-16') });
    rig.emulator.setRules([DOWN]);
    const { child, ended, stderr } = startDaywalk(['run', '--attempts', '1'], {
      env: envOf(rig, { DAYWALK_PATIENCE: '30m' }),
    });
    while (!stderr().includes('"wait-began"')) await delay(10);
    const asked = performance.now();
    child.kill('SIGTERM');
    const { code } = await ended;
    expect(performance.now() - asked).toBeLessThan(1_000 + BUSY_MACHINE_MS);
    expect(code).toBe(143);
    rig.emulator.setRules([]);
    expect((await rig.run()).report.exitCode).toBe(0);
    expect(await rig.digest()).toBe(await undisturbed(rig));
  });
});

describe('serve', () => {
  test('waits at most until its next time', { tags: 'ci/rare' }, async () => {
    const rig = await createRig(SMALL, { patience: 30 * MINUTE_MS });
    const fake = new FakeClock({ now: `${today}T02:00:00Z`, auto: true });
    const metrics = createMetrics({ clock: fake, settings: () => ({}) });
    const texts: Promise<string>[] = [];
    // Read in this process: the clock does not stand still until another one has answered.
    const readMetrics = async () => {
      const warehouse = await openWarehouse(rig.path, { clock: fake, create: false, readOnly: true });
      const read: KeptWarehouse['read'] = (work) => warehouse.inSnapshot(() => work(warehouse, ''));
      return metrics.text({ read, close: () => warehouse.close() }).finally(() => warehouse.close());
    };
    let rounds = 0;
    const service = await serveHere(rig, {
      clock: fake,
      listeners: [metrics.listener],
      schedule: '*/20 * * * *',
      onEvent: ({ type }, stop) => {
        if (type === 'wait-began' || type === 'wait-ended') {
          texts.push(readMetrics());
        }
        if (type !== 'round-ended') return;
        rounds += 1;
        if (rounds === 1) rig.emulator.setRules([DOWN]);
        if (rounds === 2) rig.emulator.setRules([]);
        if (rounds === 3) stop();
      },
    });
    await service.ended;
    const codes = service.events.flatMap((event) => (event.type === 'round-ended' ? [event.exitCode] : []));
    expect(codes).toEqual([0, 4, 0]);
    const untils = service.events.flatMap((event) => (event.type === 'wait-began' ? [event.until] : []));
    expect(untils.map((until) => until.slice(0, 16))).toEqual([`${today}T02:40`]);
    const [waiting = '', over = ''] = await Promise.all(texts);
    const [, since = ''] = /^daywalk_waiting_since_timestamp_seconds (\S+)$/m.exec(waiting) ?? [];
    expect(new Date(Number(since) * 1_000).toISOString().slice(0, 16)).toBe(`${today}T02:20`);
    expect(over).toMatch(/^daywalk_waiting_since_timestamp_seconds 0$/m);
    const ticks = service.events.flatMap((event) => (event.type === 'tick' ? [event.lateMs] : []));
    expect(ticks.at(-1)).toBeLessThan(MINUTE_MS);
  });
});
