// @module-tag campaign/faults

import { describe, expect, test } from 'vitest';
import { hintOf } from '../../../src/cli/remedies.ts';
import type { ActionOf } from '../../../src/emulator/faults/action.ts';
import type { Rule } from '../../../src/emulator/faults/rules.ts';
import {
  answered,
  casesFor,
  DAY,
  expectRecovery,
  expectUndisturbed,
  expectWholeUnits,
  smallRig,
  statesOf,
  UNTIL,
  walk,
} from '../../support/faults/three-day-walk.ts';
import { http, rawServer } from '../../support/network/raw-server.ts';
import { firings } from '../../support/rig/journal.ts';
import type { Rig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

function status(code: number, more: Partial<Rule> = {}, action: Partial<ActionOf<'status'>> = {}): Rule {
  return { id: 'fault', ...more, action: { type: 'status', status: code, ...action } };
}

/** A rig with a finished walk that will be pulled again with --force; the digest must stay the same. */
async function stored(rig: Rig): Promise<string> {
  await walk(rig);
  rig.emulator.resetJournal();
  return rig.digest();
}

onEachDatabase((database) => {
  test('H1: temporary 500, 502, 503 and 504 are retried', async () => {
    const codes = { tokens: 500, tools: 502, activity: 503, users: 504 } as const;
    const rules = (['tokens', 'tools', 'activity', 'users'] as const).map((stream) =>
      status(codes[stream], { id: stream, match: { stream }, when: { count: 2, per: 'request' } }),
    );
    const rig = await smallRig(database, { rules });
    const { report } = await walk(rig, { settings: { attempts: 4 } });
    for (const { id = '' } of rules) expect(firings(rig, id)).toBeGreaterThanOrEqual(6);
    const fired = rules.reduce((sum, { id = '' }) => sum + firings(rig, id), 0);
    expect(report).toMatchObject({ exitCode: 0, retries: fired });
    await expectUndisturbed(rig);
  });

  describe('H2: 429', () => {
    testVariants<readonly [string, ActionOf<'status'>['retryAfter'], number]>(
      casesFor(database, [
        ['with seconds', 3, 3_000],
        ['with a date', { dateInSeconds: 4 }, 3_000],
        ['with garbage', 'in a little while', 0],
        ['with a time of long ago', 'Wed, 21 Oct 2015 07:28:00 GMT', 0],
        ['without a word', undefined, 0],
      ]),
    )('%s is waited for as requested, and slows down all requests', async (_, retryAfter, leastMs) => {
      const rule = status(
        429,
        { when: { after: 8, count: 3 } },
        retryAfter === undefined ? {} : { retryAfter },
      );
      const rig = await smallRig(database, { rules: [rule] });
      const waits: number[] = [];
      const { report } = await walk(rig, {
        settings: { attempts: 6 },
        onEvent: (event) => void (event.type === 'retry' && waits.push(event.waitMs)),
      });
      expect(firings(rig, 'fault')).toBe(3);
      expect(waits).toHaveLength(3);
      for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(leastMs);
      expect(report).toMatchObject({ exitCode: 0, retries: 3 });
      await expectUndisturbed(rig);
    });

    test('with a wait of years ends the run; the next run continues', { tags: 'ci/rare' }, async () => {
      const rig = await smallRig(database, {
        rules: [status(429, { when: { after: 8 } }, { retryAfter: 1e9 })],
      });
      const { report } = await walk(rig);
      expect(firings(rig, 'fault')).toBeGreaterThan(0);
      expect(report.exitCode).toBe(4);
      expect(report.problems[0]?.message).toContain('asks to come back in 1000000000 s');
      expect(rig.emulator.journal().requests).toBeLessThanOrEqual(8 + 9);
      await expectWholeUnits(rig);
      await expectRecovery(rig);
    });
  });

  testVariants([
    ['H3: 401', 401, /DAYWALK_API_KEY/],
    ['H4: 403', 403, /Manager or Owner/],
  ] as const)('%s ends the run at once with exit code 3, and nothing changes', async (_, code, hint) => {
    const rig = await smallRig(database);
    const digest = await stored(rig);
    rig.emulator.setRules([status(code)]);
    const { report } = await walk(rig, { force: true });
    expect(firings(rig, 'fault')).toBe(1);
    expect(rig.emulator.journal().requests).toBe(1);
    expect(report).toMatchObject({ exitCode: 3, unitsDone: 0 });
    expect(hintOf(report.problems[0] ?? { hint: undefined })).toMatch(hint);
    expect(await rig.digest()).toBe(digest);
  });

  test('H5: a key revoked during a run leaves only whole days, and a run with a new key completes the copy', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await smallRig(database, { rules: [status(401, { when: { after: 8 } })] });
    const first = await walk(rig);
    expect(firings(rig, 'fault')).toBeGreaterThan(0);
    expect(first.report.exitCode).toBe(3);
    expect(first.report.unitsDone).toBeGreaterThan(0);
    expect(first.report.unitsLeftOut).toBeGreaterThan(0);
    await expectWholeUnits(rig);
    rig.emulator.setRules([]);
    const second = await walk(rig, { settings: { apiKey: rig.emulator.keys.manager } });
    expect(second.report.exitCode).toBe(0);
    await expectUndisturbed(rig);
  });

  test('H6: 400 fails its unit and records the requestId, and all others are stored', async () => {
    const rig = await smallRig(database, { rules: [status(400, { match: { stream: 'users', day: DAY } })] });
    const { report } = await walk(rig);
    expect(firings(rig, 'fault')).toBe(1);
    expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1, unitsLeftOut: 0 });
    const [error] = await rig.column("SELECT last_error FROM export_units WHERE state = 'failed'");
    expect(error).toMatch(/answered 400.*requestId req_/);
    expect(report.unitsDone).toBe(report.unitsPlanned - 1);
    await expectRecovery(rig);
  });

  test('H7: a web page of a captive proxy is retried, then fails the units and stores nothing', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await smallRig(database);
    const digest = await stored(rig);
    rig.emulator.setRules([
      { id: 'fault', match: { stream: 'tools' }, action: { type: 'body', html: true } },
    ]);
    const { report } = await walk(rig, { force: true, settings: { attempts: 2 } });
    expect(firings(rig, 'fault')).toBe(6);
    expect(report).toMatchObject({ exitCode: 4, unitsFailed: 3 });
    expect(report.problems.map(({ message }) => message).join()).toMatch(/text\/html.*, not JSON/);
    expect(await rig.digest()).toBe(digest);
    await expectRecovery(rig);
  });

  describe('a 2xx status other than 200 is never treated as a full answer', () => {
    testVariants(casesFor(database, [202, 203, 206, 226] as const))(
      'L6: %i with some well-formed rows',
      { tags: 'ci/rare' },
      async (status) => {
        const rig = await smallRig(database);
        const digest = await stored(rig);
        rig.emulator.setQuirks({ lies: { partial: { status, streams: ['users', 'tools', 'readiness'] } } });
        const { report } = await walk(rig, { force: true });
        // One of them compares the users of a stored day before the run.
        expect(answered(rig, status)).toBe(7 + 1);
        expect(report).toMatchObject({ exitCode: 4, unitsFailed: 7, retries: 0 });
        expect(await rig.digest()).toBe(digest);
        expect((await statesOf(rig, 'users'))[DAY]).toBe('failed');
        rig.emulator.setQuirks({ lies: {} });
        await expectRecovery(rig);
      },
    );

    test('L6: from the first request on', { tags: 'ci/rare' }, async () => {
      const rig = await smallRig(database, { quirks: { lies: { partial: { status: 206 } } } });
      const { report } = await walk(rig);
      expect(report).toMatchObject({ exitCode: 4, unitsDone: 0 });
      rig.emulator.setQuirks({ lies: {} });
      await expectRecovery(rig);
    });
  });

  test('H8: a body without a length that ends too early is never treated as complete', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await smallRig(database);
    let cut = 0;
    // Passes the service's own answers on without their length, the first time of each with a byte less.
    const asked = new Set<string>();
    const proxy = await rawServer(async (socket, { path, headers }) => {
      const authorization = headers['authorization'] ?? '';
      const answer = await fetch(rig.emulator.url + path, { headers: { authorization } });
      const body = Buffer.from(await answer.arrayBuffer());
      const isFirst = !asked.has(path);
      asked.add(path);
      cut += Number(isFirst);
      const sent = isFirst ? body.subarray(0, -1) : body;
      socket.end(http(answer.status, sent, { 'content-length': undefined, connection: 'close' }));
    });
    const { report } = await walk(rig, { settings: { baseUrl: proxy.url, appUrl: proxy.url } });
    expect(cut).toBeGreaterThan(15);
    expect(report).toMatchObject({ exitCode: 0, retries: cut, unitsFailed: 0 });
    await expectUndisturbed(rig);
  });

  testVariants([
    ['oversized headers', { type: 'oversized-headers' }],
    ['a malformed status line', { type: 'malformed-status-line' }],
  ] as const)(
    'H9: %s are retried, then fail the unit and change nothing',
    { tags: 'ci/rare' },
    async (_, action) => {
      const rig = await smallRig(database);
      const digest = await stored(rig);
      rig.emulator.setRules([{ id: 'fault', match: { stream: 'activity', day: UNTIL }, action }]);
      const { report } = await walk(rig, { force: true, settings: { attempts: 3 } });
      expect(firings(rig, 'fault')).toBe(3);
      expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1, unitsLeftOut: 0 });
      expect(await rig.digest()).toBe(digest);
      expect((await statesOf(rig, 'activity'))[UNTIL]).toBe('failed');
      expect(answered(rig, 200)).toBeGreaterThan(12);
      await expectRecovery(rig);
    },
  );
});
