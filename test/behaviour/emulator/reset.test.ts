import { expect, test } from 'vitest';
import { READINESS_PATH, SESSIONS_PATH } from '../../../src/contract/paths.ts';
import { parseDay } from '../../../src/core/day.ts';
import { type Probe, pathOf, probe } from '../../support/emulator/probe.ts';

const DAY = '2026-02-03';
const OPTIONS = {
  realistic: true,
  quirks: { modelTier: false },
  rules: [
    { id: 'first', when: { count: 1 }, match: { stream: 'tools' }, action: { type: 'status', status: 503 } },
  ],
} as const;

function createSession(at: Probe): Promise<Response> {
  return fetch(at.emulator.url + SESSIONS_PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.emulator.apiKey}`, 'content-type': 'application/json' },
    body: '{"computerId":"computer-1"}',
  });
}

/** Everything that a client or the controls can see, without instants of the machine. */
async function look(at: Probe): Promise<unknown> {
  const state = {
    quirks: at.emulator.quirks(),
    rules: at.emulator.rules(),
    today: at.emulator.today(),
    days: at.emulator.days(),
    sessions: at.emulator.sessions(),
    journal: at.emulator.journal(),
  };
  const paths = [
    pathOf('tools', DAY),
    pathOf('tools', DAY),
    pathOf('users', DAY),
    pathOf('activity', '2026-05-31'),
  ];
  const answers: unknown[] = [];
  for (const path of [...paths, READINESS_PATH]) {
    const { status, text } = await at.get(path);
    answers.push(status, text);
  }
  const session = await (await createSession(at)).json();
  at.emulator.resetJournal();
  return { state, answers, session };
}

test('POST /__admin/reset restores everything as it was at the start, sessions too', async () => {
  const at = await probe(OPTIONS);
  const fresh = await look(await probe(OPTIONS));

  await at.get(pathOf('tools', DAY));
  await createSession(at);
  at.emulator.setRules([{ action: { type: 'delay', ms: 1 } }]);
  at.emulator.setQuirks({ modelKey: 'model', rateLimit: { requestsPerMinute: 1, burst: 1 } });
  at.emulator.setToday(parseDay('2026-07-01'));
  at.emulator.setLatency(150);
  at.emulator.revise({ kind: 'vanish-users', day: parseDay(DAY), count: 3 });
  at.emulator.revise({ kind: 'delete-report' });
  at.emulator.putDays('{"stream":"users","date":"2026-02-03","rows":[]}');

  const answer = await fetch(`${at.emulator.url}/__admin/reset`, { method: 'POST' });
  expect([answer.status, await answer.json()]).toEqual([200, { done: true }]);
  const before = performance.now();
  expect(await look(at)).toEqual(fresh);
  // Nine requests with the latency of before would take longer.
  expect(performance.now() - before).toBeLessThan(6 * 150);
});

test('requests in progress during a reset get their answer', async () => {
  const at = await probe({ latencyMs: 200 });
  const pending = at.get(pathOf('activity', DAY));
  for (let i = 0; i < 200 && at.emulator.journal().inFlight === 0; i++)
    await new Promise((go) => setTimeout(go, 5));
  at.emulator.reset();
  expect(at.emulator.journal()).toMatchObject({ requests: 0, inFlight: 0 });
  expect((await pending).status).toBe(200);
  expect(at.emulator.journal()).toMatchObject({ requests: 0, inFlight: 0, byStatus: {} });
});
