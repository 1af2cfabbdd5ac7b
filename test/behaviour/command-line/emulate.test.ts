import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { daywalk, startDaywalk } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const TODAY = '2026-02-10';

async function emulate(args: readonly string[] = [], env: Record<string, string> = {}) {
  const running = startDaywalk(['emulate', '--users', '20', '--reports', '5', ...args], { env });
  const line = await new Promise<string>((resolve, reject) => {
    running.child.stdout?.once('data', (chunk: string) => resolve(chunk));
    void running.ended.then(({ stderr }) => reject(new Error(stderr)));
  });
  const service: { url: string; apiKey: string; orgId: string } = JSON.parse(line);
  return { ...running, line, service };
}

test('emulate prints its URL in one line, and serves a whole export', async () => {
  const { child, ended, line, service } = await emulate(['--today', TODAY, '--api-key', 'trial-key-1']);
  expect(Object.keys(service)).toEqual(['url', 'apiKey', 'orgId']);
  expect(line).toBe(`${JSON.stringify(service)}\n`);
  expect(service).toMatchObject({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    apiKey: 'trial-key-1',
  });

  const env = {
    DAYWALK_API_KEY: service.apiKey,
    DAYWALK_BASE_URL: service.url,
    DAYWALK_NOW: `${TODAY}T03:00:00Z`,
  };
  const ran = await daywalk(['run', '--warehouse', join(tempDir(), 'w.db'), '--json'], { env });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    orgId: service.orgId,
    unitsDone: 27 * 5 + 1,
    lastDay: '2026-02-09',
  });

  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 143, stderr: expect.not.stringContaining('daywalk:') });
});

test('emulate takes its day from the clock, and prints its generated key even if the environment contains the same key', async () => {
  const env = { DAYWALK_NOW: '2026-01-20T12:00:00Z', DAYWALK_API_KEY: 'trial-key-2' };
  const { child, ended, service } = await emulate(['--api-key', 'trial-key-2'], env);
  expect(service.apiKey).toBe('trial-key-2');
  const answer = await fetch(
    `${service.url}/api/v1/analytics/tokens?startDate=2026-01-20&endDate=2026-01-20`,
    {
      headers: { authorization: 'Bearer trial-key-2' },
    },
  );
  expect(answer.status).toBe(400);
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
});

test('emulate injects faults from a file', async () => {
  const file = join(tempDir(), 'rules.json');
  writeFileSync(
    file,
    JSON.stringify([{ match: { stream: 'tokens' }, action: { type: 'status', status: 503 } }]),
  );
  const { service } = await emulate(['--today', TODAY, '--rules', file]);
  const answer = await fetch(
    `${service.url}/api/v1/analytics/tokens?startDate=2026-01-20&endDate=2026-01-20`,
    {
      headers: { authorization: `Bearer ${service.apiKey}` },
    },
  );
  expect(answer.status).toBe(503);
});

test('emulate on a port in use is a usage error', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { code, stderr } = await daywalk(['emulate', '--port', String(port)]);
  server.close();
  expect(code).toBe(2);
  expect(stderr).toContain(String(port));
  expect(stderr).toMatch(/^hint: /m);
});
