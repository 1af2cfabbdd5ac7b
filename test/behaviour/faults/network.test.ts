// @module-tag campaign/faults

import { expect, test } from 'vitest';
import { daysFrom, FIRST_DAY } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { parseRules } from '../../../src/emulator/faults/rules.ts';
import {
  answered,
  DAY,
  expectRecovery,
  expectUndisturbed,
  smallRig,
  statesOf,
  UNTIL,
  walk,
} from '../../support/faults/three-day-walk.ts';
import { freePort } from '../../support/network/free-port.ts';
import { CANARY_KEY } from '../../support/rig/canary-key.ts';
import { firings } from '../../support/rig/journal.ts';
import { TODAY } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

/** Every request once; the second attempt meets no fault. */
const ONCE = { count: 1, per: 'request' } as const;

onEachDatabase((database) => {
  test('N1: a refused connection is retried until the service starts', async () => {
    const rig = await smallRig(database);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const refused: string[] = [];
    let late: ReturnType<typeof startEmulator> | undefined;
    const { report } = await walk(rig, {
      settings: { baseUrl: url, appUrl: url, attempts: 30 },
      onEvent: (event) => {
        if (event.type !== 'retry') return;
        refused.push(event.error);
        if (refused.length === 3)
          late = startEmulator({
            realistic: true,
            today: TODAY,
            users: 30,
            reports: 6,
            port,
            apiKey: CANARY_KEY,
          });
      },
    });
    await (await late)?.close();
    expect(refused.length).toBeGreaterThanOrEqual(3);
    for (const error of refused) expect(error).toMatch(/ECONNREFUSED/);
    expect(report).toMatchObject({ exitCode: 0, retries: refused.length });
    await expectUndisturbed(rig);
  });

  test('N2: a host that does not resolve is named in the error, after the allowed attempts', async () => {
    const rig = await smallRig(database);
    const settings = { baseUrl: 'https://nowhere.invalid', appUrl: 'https://nowhere.invalid', attempts: 3 };
    const { report } = await walk(rig, { settings });
    expect(report).toMatchObject({ exitCode: 4, requests: 3, retries: 2, unitsDone: 0 });
    expect(report.problems.map(({ message }) => message).join()).toMatch(/nowhere\.invalid/);
    expect(rig.emulator.journal().requests).toBe(0);
    await expectRecovery(rig);
  });

  test('N3: a connection that is reset before the headers is retried', async () => {
    const rig = await smallRig(database, { rules: [{ id: 'fault', when: ONCE, action: { type: 'reset' } }] });
    const { report } = await walk(rig);
    expect(firings(rig, 'fault')).toBeGreaterThan(15);
    expect(answered(rig, 'none')).toBe(firings(rig, 'fault'));
    expect(report).toMatchObject({ exitCode: 0, retries: firings(rig, 'fault') });
    await expectUndisturbed(rig);
  });

  test('N4: a cut body is never treated as complete, wherever it was cut', async () => {
    // Another place for each request: in the beginning, byte by byte, then further and further.
    const requests = daysFrom(FIRST_DAY, UNTIL).flatMap((day) =>
      DAILY_STREAMS.map((stream) => ({ stream, day })),
    );
    const rules = requests.map((match, index) => ({
      id: `cut-${index}`,
      match,
      when: ONCE,
      action: {
        type: 'cut',
        bytes: index < 8 ? index : 8 + index * 2,
        framing: (['length', 'chunked', 'close'] as const)[index % 3],
      },
    }));
    const rig = await smallRig(database, { rules: parseRules(rules) });
    const { report } = await walk(rig);
    for (const { id } of rules) expect(firings(rig, id), id).toBeGreaterThan(0);
    expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, quarantined: 0 });
    expect(report.retries).toBeGreaterThanOrEqual(rules.length);
    await expectUndisturbed(rig);
  });

  test('N5: a request without an answer is retried after the time-out', { tags: 'ci/rare' }, async () => {
    const rig = await smallRig(database, {
      rules: [{ id: 'fault', match: { stream: 'tools' }, when: ONCE, action: { type: 'hang' } }],
    });
    const began = performance.now();
    const { report } = await walk(rig, { settings: { requestTimeoutMs: 400, attempts: 6 } });
    expect(firings(rig, 'fault')).toBe(3);
    expect(report.exitCode).toBe(0);
    expect(report.retries).toBeGreaterThanOrEqual(3);
    expect(performance.now() - began).toBeLessThan(15_000);
    await expectUndisturbed(rig);
  });

  test('N6: a dripping body times out and fails only its own unit', async () => {
    const rig = await smallRig(database, {
      rules: [{ id: 'fault', match: { stream: 'tokens', day: DAY }, action: { type: 'drip' } }],
    });
    const began = performance.now();
    const { report } = await walk(rig, { settings: { requestTimeoutMs: 400, attempts: 2, patience: 0 } });
    expect(firings(rig, 'fault')).toBe(2);
    expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1, unitsLeftOut: 0 });
    expect(performance.now() - began).toBeLessThan(15_000);
    expect((await statesOf(rig, 'tokens'))[DAY]).toBe('failed');
    await expectRecovery(rig);
  });

  test('N7: a connection that the server closed silently after its answer is not used again', async () => {
    const rig = await smallRig(database, { rules: [{ id: 'fault', action: { type: 'close' } }] });
    const { report } = await walk(rig);
    expect(firings(rig, 'fault')).toBe(rig.emulator.journal().requests);
    expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
    await expectUndisturbed(rig);
  });
});
