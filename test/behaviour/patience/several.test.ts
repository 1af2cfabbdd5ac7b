// @module-tag database-specific

import { createServer, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { StorageError } from '../../../src/core/errors.ts';
import type { Rule } from '../../../src/emulator/faults/rules.ts';
import { Claims } from '../../../src/warehouse/postgres/claims.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import { metricsOf, seriesWith } from '../../support/monitoring/read-metrics.ts';
import {
  createOrganizationsRig,
  type OrganizationsRig,
} from '../../support/organizations/organizations-rig.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { envOf, startDaywalk } from '../../support/process/daywalk-process.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import {
  needsSessions,
  onDatabase,
  onEachDatabase,
  open,
  type Place,
} from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

const today = parseDay('2026-01-24');
const SMALL = { today, users: 10, reports: 3 };
const MINUTE_MS = 60_000;
const UNTIL = parseDay('2026-01-16');
const DOWN: Rule = { id: 'down', action: { type: 'status', status: 503 } };

async function statusOf(rig: Rig, now = `${today}T03:00:00Z`) {
  const env = envOf(rig, { DAYWALK_NOW: now });
  const { stdout } = await daywalkInProcess(['status', '--json'], { env });
  return JSON.parse(stdout).waiting;
}

/** What the metrics say of waits: since when, and how many workers. */
async function measured(rig: Rig): Promise<readonly number[]> {
  return Object.values(seriesWith(await metricsOf(rig), 'daywalk_waiting'));
}

const notesIn = (place: Place) =>
  place.query("SELECT value FROM export_state WHERE name = 'waiting-for-service'");
const notesOf = (rig: Rig) => notesIn(rig.place);

/** Starts a run whose service is down, and waits until it waits. */
async function startWaiting(rig: Rig) {
  const running = startDaywalk(['run', '--attempts', '1', '--log', 'json'], {
    env: envOf(rig, { DAYWALK_PATIENCE: '30m' }),
  });
  while ((await notesOf(rig)).length === 0) await delay(20);
  return running;
}

onDatabase(postgres, () => {
  describe('workers that wait at once', () => {
    beforeEach(() => needsSessions(postgres));

    test('are counted since the first of them waits, and none is left when all have ended', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig(SMALL, { database: postgres, patience: 30 * MINUTE_MS });
      await rig.run({ until: UNTIL });
      rig.emulator.setRules([DOWN]);
      const clocks = ['T03:00:00Z', 'T03:05:00Z'].map((time) => hurriedClock(`${today}${time}`, 120));
      let waiting = 0;
      const settings = { attempts: 1 };
      const runs = clocks.map((clock) =>
        rig.run({
          ...{ clock, settings },
          onEvent: ({ type }) => void (type === 'wait-began' && waiting++),
        }),
      );
      while (waiting < 2 || (await notesOf(rig)).length === 0) await delay(20);
      await expect
        .poll(() => statusOf(rig))
        .toEqual({
          host: rig.emulator.url,
          since: expect.stringMatching(/T0(2:59|3:00)/),
          until: expect.stringMatching(/T03:3[45]/),
          workers: 2,
        });
      const { stdout } = await daywalkInProcess(['status'], { env: envOf(rig) });
      expect(stdout).toMatch(
        /run +2 workers wait for the service since 2026-\S+, until 2026-\S+ at most: http:/,
      );
      const [since = 0, workers] = await measured(rig);
      expect([new Date(since * 1_000).toISOString().slice(11, 13), workers]).toEqual([
        expect.stringMatching(/^0[23]$/),
        2,
      ]);
      rig.emulator.setRules([]);
      for (const { report } of await Promise.all(runs)) expect(report.exitCode).toBe(0);
      expect([await statusOf(rig), await measured(rig), await notesOf(rig)]).toEqual([null, [0, 0], []]);
    });

    test('end with the error of a server that does not let their units go', { tags: 'ci/rare' }, async () => {
      const rig = await createRig(SMALL, { database: postgres, patience: 30 * MINUTE_MS });
      await rig.run({ until: UNTIL });
      rig.emulator.setRules([{ ...DOWN, match: { path: '/api/v1/**' }, when: { after: 9 } }]);
      const { lock } = Claims.prototype;
      let fails = 0;
      const failing = vi.spyOn(Claims.prototype, 'lock').mockImplementation(async function (
        this: Claims,
        ...asked
      ) {
        const own = await lock.apply(this, asked);
        const free: typeof own.free = async (units) => {
          await own.free(units);
          if (fails > 0 || (await notesOf(rig)).length === 0) return;
          fails += 1;
          rig.emulator.setRules([]);
          throw new StorageError('free units: canceled by the server');
        };
        return { ...own, free };
      });
      onTestFinished(() => void failing.mockRestore());
      const clock = hurriedClock(`${today}T03:00:00Z`, 1_200);
      const settings = { attempts: 1, rangeDays: 1, appUrl: null };
      const { report } = await rig.run({ clock, settings });
      expect([report.exitCode, report.problems[0]?.message, fails]).toEqual([
        6,
        'free units: canceled by the server',
        1,
      ]);
    });

    test('do not count for longer than they would have waited, once they were killed', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig(SMALL, { database: postgres, patience: 30 * MINUTE_MS });
      await rig.run({ until: UNTIL });
      rig.emulator.setRules([DOWN]);
      const { child, ended } = await startWaiting(rig);
      child.kill('SIGKILL');
      await ended;
      await expect.poll(() => statusOf(rig), { timeout: 10_000 }).toBe(null);
      // Another worker is at work.
      await (await open(rig.place, { create: false })).lock();
      expect(await statusOf(rig)).toMatchObject({ workers: 1 });
      expect(await statusOf(rig, `${today}T03:31:00Z`)).toBe(null);
      // Whoever waits next removes what is over.
      const [first] = await notesOf(rig);
      const clock = hurriedClock(`${today}T03:31:00Z`, 1_200);
      const { report } = await rig.run({
        ...{ clock, settings: { attempts: 1 } },
        onEvent: ({ type }) => void (type === 'wait-began' && rig.emulator.setRules([])),
      });
      expect([first, report.exitCode, await notesOf(rig)]).toEqual([expect.anything(), 0, []]);
    });
  });
});

onEachDatabase((database) => {
  describe('a run that was killed in its wait', () => {
    test('is not taken for the next one, which works', {
      tags: database === postgres ? 'ci/variant' : [],
    }, async () => {
      const rig = await createRig(SMALL, { database, patience: 30 * MINUTE_MS });
      await rig.run({ until: UNTIL });
      rig.emulator.setRules([DOWN]);
      const { child, ended } = await startWaiting(rig);
      child.kill('SIGKILL');
      await ended;
      rig.emulator.setRules([]);
      const seen: Promise<unknown>[] = [];
      const { report } = await rig.run({
        // On PostgreSQL, the other worker may live as far as the next one knows, until its wait would have ended.
        ...(database === postgres && { clock: hurriedClock(`${today}T03:31:00Z`) }),
        onEvent: ({ type }) => {
          const now = database === postgres ? `${today}T03:31:00Z` : undefined;
          if (type === 'planned') seen.push(statusOf(rig, now));
        },
      });
      expect([report.exitCode, await Promise.all(seen)]).toEqual([0, [null]]);
    });
  });

  describe('organizations of one host', () => {
    test('share its patience in a round: one wait for all, and none after its end', {
      tags: database === postgres ? 'ci/variant' : [],
    }, async () => {
      const rig = await createOrganizationsRig(['north', 'south', 'east'], database);
      const host = await sharedHost(rig);
      rig.list(rig.entries.map((entry) => ({ ...entry, baseUrl: host.url })));
      expect((await rig.run('--until 2026-01-16')).code).toBe(0);

      host.answers(false);
      const over = await rig.daywalk('run --log json --patience 2s');
      expect([over.code, waitsIn(over.stderr)]).toEqual([4, ['began', 'over']]);
      // The wait has used the patience up: the first requests of the others are tried once.
      expect(host.askedSinceDown()).toBeLessThanOrEqual(3 + 2 * 6);

      const back = rig.daywalk('run --log json --patience 30s');
      while ((await notesIn(rig.place)).length === 0) await delay(20);
      host.answers(true);
      const { code, stderr } = await back;
      expect([code, waitsIn(stderr)]).toEqual([0, ['began', 'answered']]);
      expect((await rig.run()).organizations.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    });
  });
});

function waitsIn(log: string): string[] {
  return log.split('\n').flatMap((line) => {
    if (!line.includes('"wait-')) return [];
    const { event, type = event, end } = JSON.parse(line);
    return type === 'wait-began' ? ['began'] : [end];
  });
}

/** One host for the services of all organizations, told apart by their keys; it can be down. */
async function sharedHost({ emulators }: OrganizationsRig) {
  let isUp = true;
  let asked = 0;
  const server = createServer((incoming, response) => {
    const service = emulators.find(({ apiKey }) => incoming.headers.authorization?.endsWith(apiKey));
    if (!isUp || service === undefined) {
      asked += 1;
      response.writeHead(isUp ? 401 : 503).end();
      return;
    }
    const { method, headers } = incoming;
    const outgoing = request(new URL(incoming.url ?? '/', service.url), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the host has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    answers: (up: boolean) => {
      isUp = up;
      asked = 0;
    },
    askedSinceDown: () => asked,
  };
}
