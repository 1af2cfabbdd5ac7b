import { describe, expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { createOrganizationsRig } from '../../support/organizations/organizations-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf } from '../../support/process/daywalk-process.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { serveHere } from '../../support/serve/service-in-process.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const today = parseDay('2026-01-17');
const SMALL = { today, users: 4, reports: 2 };
const HOUR_SECONDS = 3_600;

/** Serves until the first rounds have ended, and returns what `/healthz` says then. */
async function healthAfter(rig: Rig, rounds: number, schedule: string, request: object = {}) {
  let seen = 0;
  let done: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    done = resolve;
  });
  const service = await serveHere(rig, {
    clock: new FakeClock({ now: '2026-01-17T02:00:00Z' }),
    schedule,
    onEvent: ({ type }) => {
      if (type === 'round-ended' && ++seen === rounds) done();
    },
    ...request,
  });
  await ended;
  const response = await fetch(new URL('/healthz', service.url));
  const answer = { status: response.status, text: await response.text() };
  await service.stop();
  return answer;
}

onEachDatabase((database) => {
  describe('the age that serve allows', () => {
    test.each([
      [
        'of a weekly schedule is a week, the jitter and an hour',
        '0 3 * * 1',
        600_000,
        (7 * 24 + 1) * HOUR_SECONDS + 600,
      ],
      // A round waits for the service until the next tick at most.
      [
        'with a long patience is two gaps of the schedule and an hour',
        '0 3 * * *',
        0,
        (2 * 24 + 1) * HOUR_SECONDS,
        5 * 24 * 3_600_000,
      ],
      ['of a schedule with short gaps is that of a nightly job', '*/20 * * * *', 0, 26 * HOUR_SECONDS],
    ])('%s', async (_, schedule, jitterMs, seconds, patience = 0) => {
      const rig = await createRig(SMALL, { database, patience });
      expect(await healthAfter(rig, 1, schedule, { jitterMs })).toMatchObject({ status: 200 });
      expect(await rig.value<number>('SELECT max_age_seconds FROM contracts')).toBe(seconds);
      const at = async (hours: number) => {
        const DAYWALK_NOW = new Date(Date.parse('2026-01-17T02:00:00Z') + hours * 3_600_000).toISOString();
        return (await daywalkInProcess(['status', '--health'], { env: envOf(rig, { DAYWALK_NOW }) })).code;
      };
      expect([await at(seconds / HOUR_SECONDS - 0.1), await at(seconds / HOUR_SECONDS + 0.1)]).toEqual([
        0, 1,
      ]);
    });
  });
});

describe('/healthz', () => {
  test.each([
    [3, { apiKey: 'not-the-key' }, /^unhealthy: the last run ended with exit code 3$/m],
    [2, { apiKey: null }, /^unhealthy: no API key is configured/],
    [6, { warehouse: '/proc/daywalk/none.db' }, /^unhealthy: .*\/proc\/daywalk/],
  ])(
    'is 503 after a round that ended with %i, although the last complete export is recent',
    { tags: 'ci/variant' },
    async (exitCode, broken, text) => {
      const rig = await createRig(SMALL);
      await rig.run();
      const codes: number[] = [];
      const answer = await healthAfter(rig, 1, '0 3 * * *', {
        readSettings: () => ({ ...rig.settings, ...broken }),
        listeners: [{ end: async (round: { exitCode: number }) => void codes.push(round.exitCode) }],
      });
      expect(codes).toEqual([exitCode]);
      expect(answer).toEqual({ status: 503, text: expect.stringMatching(text) });
    },
  );

  test('is 200 again after a round that succeeds', async () => {
    const rig = await createRig(SMALL);
    let rounds = 0;
    const clock = new FakeClock({ now: '2026-01-17T02:00:00Z', auto: true });
    const answer = await healthAfter(rig, 2, '*/20 * * * *', {
      clock,
      readSettings: () => (rounds++ === 0 ? { ...rig.settings, apiKey: 'not-the-key' } : rig.settings),
    });
    expect(answer).toMatchObject({ status: 200, text: expect.stringMatching(/^healthy: /) });
  });
});

describe('organizations of one file', () => {
  test('have contracts of their own, which their fields override', async () => {
    const rig = await createOrganizationsRig(['north', 'south'], sqlite);
    const [north, south] = rig.entries;
    if (north === undefined || south === undefined) throw new Error('the rig has two organizations');
    rig.list([north, { ...south, firstDay: '2026-01-20', streams: 'tokens,users', maxAge: '8d' }]);
    const env = { DAYWALK_FIRST_DAY: '2026-01-16', DAYWALK_MAX_AGE: '30' };
    expect((await rig.run('', env)).code).toBe(0);
    const { stdout } = await rig.daywalk('status --json');
    const found = JSON.parse(stdout).organizations.map((each: { contract: object; missing: object[] }) => [
      each.contract,
      each.missing,
    ]);
    const streams = ['tokens', 'tools', 'activity', 'productivity', 'users', 'readiness'];
    expect(found).toEqual([
      [
        { firstDay: '2026-01-16', streams, leftOut: [], usersFrom: null, maxAgeSeconds: 30 * HOUR_SECONDS },
        [],
      ],
      [
        {
          firstDay: '2026-01-20',
          streams: ['tokens', 'users'],
          leftOut: [],
          usersFrom: null,
          maxAgeSeconds: 8 * 24 * HOUR_SECONDS,
        },
        [],
      ],
    ]);
    // Only the one that allows 30 hours is late after two days.
    const late = await rig.daywalk('status --health', { DAYWALK_NOW: '2026-01-26T05:00:00Z' });
    expect(late).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^unhealthy: north: .*more than 30 hours ago/),
    });
  });
});
