import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { saidIn } from '../../support/assistants/client.ts';
import { INITIALIZE, startMcp } from '../../support/assistants/process.ts';
import { BUSY_MACHINE_MS } from '../../support/clock/busy-machine.ts';
import { filledPlace } from '../../support/dashboard/serve.ts';
import { daywalk, startDaywalk } from '../../support/process/daywalk-process.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { needsSessions, onDatabase, onEachDatabase } from '../../support/warehouse/each-database.ts';
import { endless } from '../../support/warehouse/endless-table.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const NOW = '2026-02-10T03:00:00Z';
const SECRET = 'a-token-that-nobody-guesses';
const QUERY = {
  name: 'query_metric',
  arguments: { metric: 'sessions', from: '2026-02-02', until: '2026-02-08' },
};
/** People of a part of a week are counted in the rows of users. */
const OF_USERS = { ...QUERY, arguments: { ...QUERY.arguments, metric: 'active_users', from: '2026-02-03' } };
const END_MS = 1_000 + BUSY_MACHINE_MS;

async function pipedPlace() {
  const place = await filledPlace(sqlite);
  return { place, env: { DAYWALK_WAREHOUSE: place.location, DAYWALK_NOW: NOW } };
}

describe('daywalk mcp over a pipe', () => {
  it('answers, and logs each call without its values', async () => {
    const { env } = await pipedPlace();
    const { ask, log, child, ended } = startMcp([], env);
    const hello = await ask('initialize', INITIALIZE);
    expect(hello).toMatchObject({ result: { serverInfo: { name: 'daywalk' } } });
    const { result } = await ask('tools/call', {
      ...QUERY,
      arguments: { ...QUERY.arguments, team: 'core' },
    });
    expect(result).toMatchObject({ structuredContent: { total: 6, days: { missing: ['2026-02-05'] } } });
    child.stdin?.end();
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(log).toEqual([
      expect.objectContaining({
        event: 'audit',
        tool: 'query_metric',
        audience: 'managers',
        outcome: 'answered',
        asked: ['metric', 'from', 'until', 'team'],
      }),
    ]);
    expect(JSON.stringify(log)).not.toContain('core');
  });

  testVariants([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    'ends within a second of %s, in the middle of a statement',
    { tags: 'ci/rare' },
    async (signal, code) => {
      const { place, env } = await pipedPlace();
      await place.execute(endless('user_daily'));
      const { ask, send, child, ended } = startMcp([], env);
      await ask('initialize', INITIALIZE);
      send('tools/call', OF_USERS);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const since = performance.now();
      child.kill(signal);
      expect(await ended).toEqual({ code, signal: null });
      expect(performance.now() - since).toBeLessThan(END_MS);
    },
  );

  testVariants([['input'], ['output']] as const)(
    'ends within a second once the client closes its %s',
    { tags: 'ci/rare' },
    async (end) => {
      const { place, env } = await pipedPlace();
      await place.execute(endless('user_daily'));
      const { ask, send, child, ended } = startMcp([], env);
      await ask('initialize', INITIALIZE);
      send('tools/call', OF_USERS);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const since = performance.now();
      if (end === 'input') child.stdin?.end();
      else {
        child.stdout?.destroy();
        // Only a write notices it.
        send('tools/list');
      }
      expect((await ended).signal).toBeNull();
      expect(performance.now() - since).toBeLessThan(END_MS);
    },
  );

  it('answers within its time limit, also the calls that wait', { tags: 'ci/rare' }, async () => {
    const { place, env } = await pipedPlace();
    await place.execute(endless('user_daily'));
    const { ask } = startMcp([], { ...env, DAYWALK_QUERY_TIMEOUT: '1s' });
    await ask('initialize', INITIALIZE);
    const since = performance.now();
    const answers = await Promise.all([ask('tools/call', OF_USERS), ask('tools/call', OF_USERS)]);
    expect(performance.now() - since).toBeLessThan(2_000 + BUSY_MACHINE_MS);
    for (const { result } of answers) {
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/^Refused: .*longer.* Instead: .*shorter period/) }],
      });
    }
  });

  it('starts with few files, and loads what answers at the first question', {
    tags: 'ci/variant',
  }, async () => {
    const { env } = await pipedPlace();
    const { ask, child, ended } = startMcp([], env);
    const since = performance.now();
    await ask('initialize', INITIALIZE);
    expect(performance.now() - since).toBeLessThan(500 + BUSY_MACHINE_MS);
    if (process.platform === 'linux') {
      const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      expect(Number(kilobytes)).toBeLessThan(140_000);
      // Processor time, in hundredths of a second, says what a busy machine hides.
      const times = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ').slice(13, 15);
      expect(times.reduce((sum, time) => sum + Number(time), 0)).toBeLessThan(50);
    }
    child.stdin?.end();
    await ended;
  });
});

onEachDatabase((database) => {
  it('answers about a warehouse that nobody may write, and while somebody else writes', {
    tags: 'ci/rare',
  }, async () => {
    const place = await filledPlace(database);
    const env = { DAYWALK_WAREHOUSE: place.location, DAYWALK_NOW: NOW };
    const { ask, child } = startMcp([], env);
    await ask('initialize', INITIALIZE);
    const release = await place.keepOthersFromWriting();
    try {
      const { result } = await ask('tools/call', QUERY);
      expect(result).toMatchObject({ structuredContent: { total: 12 } });
    } finally {
      await release();
    }
    child.kill('SIGKILL');
  });
});

onDatabase(postgres, () => {
  it('answers from a server that refuses every write, as a standby does', async () => {
    needsSessions(postgres);
    const place = await filledPlace(postgres);
    const url = new URL(place.location);
    const options = url.searchParams.get('options') ?? '';
    url.searchParams.set('options', `${options} -c default_transaction_read_only=on`.trim());
    const { ask } = startMcp([], { DAYWALK_WAREHOUSE: url.href, DAYWALK_NOW: NOW });
    await ask('initialize', INITIALIZE);
    for (const name of ['query_metric', 'explain']) {
      const { result } = await ask('tools/call', { ...QUERY, name });
      expect(result).toMatchObject({ structuredContent: { metric: 'sessions' } });
    }
    const { result } = await ask('tools/call', { name: 'coverage', arguments: {} });
    expect(result).toMatchObject({ structuredContent: { organization: 'org_1' } });
  });
});

describe('daywalk mcp over HTTP', () => {
  it('answers who shows the token, to its own names only, and ends at SIGTERM', async () => {
    const { env } = await pipedPlace();
    const file = join(tempDir(), 'token');
    writeFileSync(file, `${SECRET}\n`, { mode: 0o600 });
    const running = startDaywalk(['mcp', '--listen', '127.0.0.1:0', '--token-file', file], { env });
    const [chunk] = await once(running.child.stdout ?? running.child, 'data');
    const url = new URL(String(chunk).trim());
    expect(url.pathname).toBe('/mcp');

    const transport = new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { authorization: `Bearer ${SECRET}` } },
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    onTestFinished(() => client.close());
    expect((await client.listTools()).tools).toHaveLength(4);
    const { data } = saidIn(await client.callTool(QUERY));
    expect(data).toMatchObject({ total: 12 });

    const own = { authorization: `Bearer ${SECRET}` };
    expect(await statusOf(url, own)).toBe(200);
    expect(await statusOf(url, {})).toBe(401);
    expect(await statusOf(url, { authorization: 'Bearer a-token-that-nobody-guesse' })).toBe(401);
    expect(await statusOf(url, { ...own, host: `evil.example:${url.port}` })).toBe(421);
    expect(await statusOf(url, { ...own, origin: 'http://evil.example' })).toBe(403);
    expect(await statusOf(url, { ...own, origin: url.origin })).toBe(200);
    expect(await statusOf(new URL('/', url), own)).toBe(404);
    expect(await statusOf(url, own, 'x'.repeat(200_000))).toBe(413);

    const since = performance.now();
    running.child.kill('SIGTERM');
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(143);
    expect(performance.now() - since).toBeLessThan(END_MS);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it('needs a token', { tags: 'ci/rare' }, async () => {
    const { env } = await pipedPlace();
    const without = await daywalk(['mcp', '--listen', '127.0.0.1:0'], { env });
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('--token-file')]);
    const short = join(tempDir(), 'token');
    writeFileSync(short, 'short');
    const refused = await daywalk(['mcp', '--listen', '127.0.0.1:0', '--token-file', short], { env });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('16 characters')]);
    const audience = await daywalk(['mcp', '--audience', 'public'], { env });
    expect([audience.code, audience.stderr]).toEqual([
      2,
      expect.stringContaining('choose from managers, team'),
    ]);
  });
});

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

function statusOf(url: URL, headers: Readonly<Record<string, string>>, body = LIST): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    });
    call.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on('error', reject);
    call.end(body);
  });
}
