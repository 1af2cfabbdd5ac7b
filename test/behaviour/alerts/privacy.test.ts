import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { type AttackingService, attackingService } from '../../support/alerts/attacking-service.ts';
import { receiver } from '../../support/alerts/receiver.ts';
import { startDaywalk } from '../../support/process/daywalk-process.ts';
import { CANARY_KEY } from '../../support/rig/canary-key.ts';
import { createRig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';

const TOKEN = 'canary-ping-token';
const PATHS = ['livez', 'readyz', 'healthz', 'metrics', 'nothing'];

/** Serves one round of a hostile service, lets cron run once more, and returns every byte that comes out. */
async function bytesOf(service: AttackingService, warehouse: string, own: Record<string, string>) {
  const hook = await receiver();
  const env = {
    DAYWALK_API_KEY: CANARY_KEY,
    DAYWALK_BASE_URL: service.url,
    DAYWALK_WAREHOUSE: warehouse,
    DAYWALK_NOW: '2026-01-26T03:00:00Z',
    DAYWALK_RANGE_DAYS: '1',
    DAYWALK_ATTEMPTS: '2',
    DAYWALK_PING_URL: hook.url,
    DAYWALK_ALERT_WEBHOOK: hook.url,
    DAYWALK_DEBUG: '1',
    ...own,
  };
  const running = startDaywalk(['serve', '--listen', '127.0.0.1:0', '--jitter', '0m'], { env });
  let stdout = '';
  running.child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  const isDone = () => hook.received.some(({ path }) => /\/\d+$/.test(path)) && hook.received.length > 2;
  for (let wait = 0; wait < 600 && !isDone() && running.child.exitCode === null; wait += 1) await delay(100);
  const url = /http:\/\/127[^\s"]+/.exec(stdout)?.[0] ?? '';
  const answers: string[] = [];
  for (const path of PATHS) {
    const response = await fetch(`${url}/${path}`);
    answers.push(JSON.stringify([...response.headers]), await response.text());
  }
  running.child.kill('SIGTERM');
  const ended = await running.ended;
  const file = `${warehouse}.prom`;
  await startDaywalk(['run', '--metrics-file', file], { env: { ...env, DAYWALK_LOG: 'silent' } }).ended;
  const metrics = await readFile(file, 'utf8');
  // The token of the address belongs there, and nowhere else.
  const sent = hook.received.map(({ path, query, body }) => `${path.replace(TOKEN, '')}?${query}\n${body}`);
  return {
    log: ended.stderr,
    sent,
    all: [ended.stdout, ended.stderr, ...answers, metrics, ...sent].join('\n'),
  };
}

/** The writings in which a text may come out. */
function writingsOf(text: string): string[] {
  return [
    text,
    encodeURIComponent(text),
    encodeURIComponent(encodeURIComponent(text)),
    JSON.stringify(text).slice(1, -1),
  ]
    .concat(Buffer.from(text).toString('base64').replaceAll('=', ''), Buffer.from(text).toString('hex'))
    .map((writing) => writing.toLowerCase());
}

testVariants([
  ['as JSON', 'that look like words', { DAYWALK_LOG: 'json' }],
  ['for people', 'with digits', { DAYWALK_LOG: 'pretty' }],
  ['for people', 'that look like words', { DAYWALK_LOG: 'pretty' }],
])(
  'nothing that the service logs %s, answers, writes or sends contains a key, an email address or IDs of users %s',
  { tags: 'ci/rare' },
  async (_, ids, env) => {
    const rig = await createRig({ users: 40, reports: 5, today: '2026-01-26' });
    const service = await attackingService(rig.emulator, { hasPlainIds: ids === 'that look like words' });
    expect(service.people.length).toBeGreaterThan(5);
    const { log, sent, all } = await bytesOf(service, rig.path, env);
    const output = all.toLowerCase();
    const found = [...service.people.flatMap(({ id, email }) => [id, email]), CANARY_KEY].flatMap((secret) =>
      writingsOf(secret).filter((writing) => output.includes(writing)),
    );
    expect(found).toEqual([]);
    expect(output).not.toMatch(/canary|@|%40/);

    // The texts stay useful, and the service did attack.
    expect(Object.keys(service.attacks).length).toBe(13);
    expect(log).toMatch(/tokens 2026-01-15.*answered 422/);
    expect(log).toMatch(/answered 500 \(requestId req_0123456789\)/);
    expect(sent.join('\n')).toMatch(/\/ping\/\/[45]\?rid=[\s\S]*answered 422 \(requestId req_0123456789\)/);
    expect(sent.join('\n')).toContain('"kind":"run-failed"');
    expect(all.match(/daywalk_quarantined_records\{[^}]*stream="users"\} [1-9]/g)).toHaveLength(2);
  },
);
