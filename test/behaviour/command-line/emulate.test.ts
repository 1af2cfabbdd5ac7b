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

test('emulate prints its URL in one line, and serves a whole export', { tags: 'ci/again' }, async () => {
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

test('emulate takes its day from the clock, and prints its generated key even if the environment contains the same key', {
  tags: 'ci/rare',
}, async () => {
  const env = { DAYWALK_NOW: '2026-01-20T12:00:00Z', DAYWALK_API_KEY: 'trial-key-2' };
  const { child, ended, service } = await emulate(['--api-key', 'trial-key-2', '--journal', '1'], env);
  expect(service.apiKey).toBe('trial-key-2');
  const answer = await fetch(
    `${service.url}/api/v1/analytics/tokens?startDate=2026-01-20&endDate=2026-01-20`,
    {
      headers: { authorization: 'Bearer trial-key-2' },
    },
  );
  expect(answer.status).toBe(400);
  const count = () => fetch(`${service.url}/__admin/requests/count`, { method: 'POST' });
  expect(await (await count()).json()).toMatchObject({ count: 1 });
  await fetch(`${service.url}/nowhere`);
  expect((await count()).status).toBe(400);
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
});

test('emulate injects faults from a file', async () => {
  const file = join(tempDir(), 'rules.json');
  writeFileSync(
    file,
    `\uFEFF${JSON.stringify([{ match: { stream: 'tokens' }, action: { type: 'status', status: 503 } }])}`,
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

test('emulate on a port in use is a usage error', { tags: 'ci/rare' }, async () => {
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

test('emulate beyond loopback needs a token, and with one gives no key without it', {
  tags: 'ci/rare',
}, async () => {
  const refused = await daywalk(['emulate', '--host', '0.0.0.0']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('DAYWALK_EMULATE_TOKEN_FILE');
  expect(refused.stdout).toBe('');

  const file = join(tempDir(), 'token');
  const token = 'token-0123456789abcdef';
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  const { service } = await emulate(['--host', '0.0.0.0', '--today', TODAY], {
    DAYWALK_EMULATE_TOKEN_FILE: file,
  });
  const keys = (headers: Record<string, string>) => fetch(`${service.url}/__admin/keys`, { headers });
  expect((await keys({})).status).toBe(401);
  expect(await (await keys({ authorization: `Bearer ${token}` })).json()).toMatchObject({
    owner: service.apiKey,
  });
});

test('emulate is strict unless it is realistic, and serves the days of a file', {
  tags: 'ci/rare',
}, async () => {
  const file = join(tempDir(), 'days.jsonl');
  const row = { user_id: 'u1', date: '2026-02-03', sessions: 3 };
  writeFileSync(file, JSON.stringify({ stream: 'users', date: '2026-02-03', rows: [row] }));
  const read = async (args: readonly string[]) => {
    const { service } = await emulate(['--today', TODAY, ...args]);
    const answer = await fetch(
      `${service.url}/api/v1/analytics/users?startDate=2026-02-03&endDate=2026-02-03&limit=100`,
      {
        headers: { authorization: `Bearer ${service.apiKey}` },
      },
    );
    return answer.json();
  };
  const meta = { start_date: '2026-02-03', end_date: '2026-02-03', has_more: false };
  const org_id = expect.any(String);
  expect(await read(['--days', file])).toEqual({ data: [row], meta: { org_id, ...meta } });
  expect(await read(['--days', file, '--realistic'])).toEqual({
    data: [row],
    meta: { org_id, ...meta, next_cursor: null },
  });
});

test('emulate names the line of a file of days that it cannot use', { tags: 'ci/rare' }, async () => {
  const file = join(tempDir(), 'days.jsonl');
  writeFileSync(file, '\n{"stream":"users","date":"2026-02-03","rows":[{}]}\n');
  const { code, stderr } = await daywalk(['emulate', '--days', file]);
  expect(code).toBe(2);
  expect(stderr).toContain(`read ${file}: days, line 2.rows[0].date`);
});

test('emulate serves an archive, under the ID of its organization', { tags: 'ci/again' }, async () => {
  const { service } = await emulate(['--today', TODAY, '--seed', '3']);
  const folder = join(tempDir(), 'archive');
  const env = {
    DAYWALK_API_KEY: service.apiKey,
    DAYWALK_BASE_URL: service.url,
    DAYWALK_NOW: `${TODAY}T03:00:00Z`,
  };
  const range = ['--from', '2026-02-03', '--until', '2026-02-03', '--archive', folder];
  const ran = await daywalk(['run', '--warehouse', join(tempDir(), 'w.db'), ...range], { env });
  expect(ran.code).toBe(0);
  const again = (await emulate(['--today', TODAY, '--archive', folder])).service;
  expect(again.orgId).toBe(service.orgId);
  const read = async (of: { url: string; apiKey: string }) => {
    const answer = await fetch(`${of.url}/api/v1/analytics/tools?startDate=2026-02-03&endDate=2026-02-03`, {
      headers: { authorization: `Bearer ${of.apiKey}` },
    });
    return answer.text();
  };
  expect(await read(again)).toBe(await read(service));
  const other = await daywalk(['emulate', '--archive', folder, '--organization', 'org_other']);
  expect(other.code).toBe(2);
  expect(other.stderr).toContain(`choose one of ${service.orgId} with --organization`);
});
