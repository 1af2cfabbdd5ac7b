import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { requestTo, testRequester, thrownBy } from '../../support/api/test-transport.ts';
import { selfSigned } from '../../support/network/certificates.ts';
import { connectProxy, tlsFront } from '../../support/network/connect-proxy.ts';
import { freePort } from '../../support/network/free-port.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { createRig, type Rig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';

const API = 'https://api.example.test';
const APP = 'https://app.example.test';
const PASSWORD = 'proxy-secret-51c0';
const RUN = ['run', '--until', '2026-01-16'];

/** A service with two host names that only a proxy can resolve. */
async function behindProxy(answer?: string | null) {
  const tls = selfSigned('api.example.test', 'DNS:api.example.test,DNS:app.example.test');
  if (tls === null) return null;
  const rig = await createRig({ users: 20, reports: 6, today: '2026-01-20' });
  const front = await tlsFront(Number(new URL(rig.emulator.url).port), tls);
  const proxy = await connectProxy(front.port, answer);
  const address = `http://etl:${PASSWORD}@127.0.0.1:${proxy.port}`;
  const env = {
    ...envOf(rig),
    DAYWALK_BASE_URL: API,
    DAYWALK_APP_URL: APP,
    DAYWALK_ATTEMPTS: '2',
    NODE_EXTRA_CA_CERTS: tls.certPath,
  };
  return { rig, front, proxy, address, env };
}

async function directDigest({ emulator }: Rig): Promise<string> {
  const direct = await createRig({ users: 20, reports: 6, today: '2026-01-20', apiKey: emulator.apiKey });
  const { code } = await daywalkInProcess(RUN, { env: envOf(direct), cwd: tempDir() });
  expect(code).toBe(0);
  return direct.digest();
}

describe('HTTPS_PROXY', () => {
  testVariants(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY'])(
    '%s carries every request of a run, and sees neither key nor answers',
    { tags: 'ci/again' },
    async (name) => {
      const way = await behindProxy();
      if (way === null) return;
      const { code, stderr, stdout } = await daywalk(RUN, {
        env: { ...way.env, [name]: way.address },
        cwd: tempDir(),
      });
      expect(code, stderr).toBe(0);
      expect(way.rig.emulator.journal().requests).toBeGreaterThan(5);
      expect(new Set(way.proxy.tunnels.map(({ to }) => to))).toEqual(
        new Set(['api.example.test:443', 'app.example.test:443']),
      );
      expect(way.front.hosts()).toEqual(['api.example.test', 'app.example.test']);
      const credentials = Buffer.from(`etl:${PASSWORD}`).toString('base64');
      for (const { head } of way.proxy.tunnels)
        expect(head).toMatch(`proxy-authorization: Basic ${credentials}`);
      expect(way.proxy.seen()).not.toContain(way.rig.emulator.apiKey);
      expect(way.proxy.seen()).not.toContain('org_id');
      expect(stdout + stderr).not.toContain(PASSWORD);
      expect(await way.rig.digest()).toBe(await directDigest(way.rig));
    },
  );

  test('carries the creation of a session too', async () => {
    const way = await behindProxy();
    if (way === null) return;
    const args = ['sessions', 'create', '--computer-id', 'computer-1', '--org-id', 'org_1'];
    const { code, stderr } = await daywalk(args, {
      env: { ...way.env, HTTPS_PROXY: way.address },
      cwd: tempDir(),
    });
    expect(code, stderr).toBe(0);
    expect(way.proxy.tunnels.map(({ to }) => to)).toEqual(['api.example.test:443']);
    expect(way.rig.emulator.sessions()).toHaveLength(1);
  });

  test('may come from .env', { tags: 'ci/variant' }, async () => {
    const way = await behindProxy();
    if (way === null) return;
    const cwd = tempDir();
    writeFileSync(`${cwd}/.env`, `HTTPS_PROXY=${way.address}\n`, { mode: 0o600 });
    const { code, stderr } = await daywalk(RUN, { env: way.env, cwd });
    expect(code, stderr).toBe(0);
    expect(way.proxy.tunnels.length).toBeGreaterThan(0);
  });

  test('is not used for hosts of NO_PROXY and for local hosts', { tags: 'ci/variant' }, async () => {
    const way = await behindProxy();
    if (way === null) return;
    const env = { ...way.env, HTTPS_PROXY: way.address, NO_PROXY: 'other.test,.example.test' };
    const named = await daywalk(RUN, { env, cwd: tempDir() });
    expect(named.code, named.stderr).toBe(4);
    expect(way.rig.emulator.journal().requests).toBe(0);
    const here = await daywalk(RUN, { env: { ...envOf(way.rig), HTTPS_PROXY: way.address }, cwd: tempDir() });
    expect(here.code, here.stderr).toBe(0);
    expect(way.proxy.tunnels).toEqual([]);
  });

  testVariants([
    ['refuses the tunnel', 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n', '407'],
    ['never answers', null, 'did not answer within 400 ms'],
  ])('that %s fails the run with 4 and is named without its password', async (_, answer, said) => {
    const way = await behindProxy(answer);
    if (way === null) return;
    const env = { ...way.env, HTTPS_PROXY: way.address, DAYWALK_REQUEST_TIMEOUT_MS: '400' };
    const { code, stderr, stdout } = await daywalk(RUN, { env, cwd: tempDir() });
    expect(code, stderr).toBe(4);
    expect(stderr).toContain(said);
    expect(stdout + stderr).not.toContain(PASSWORD);
    expect(way.rig.emulator.journal().requests).toBe(0);
  });

  test('is named in the remedy if nothing listens there', async () => {
    const port = await freePort();
    const proxy = { url: `http://etl:${PASSWORD}@127.0.0.1:${port}`, noProxy: '' };
    const error = await thrownBy(testRequester({ proxy }).send(requestTo(API)));
    expect(error).toMatchObject({
      name: 'RequestError',
      effect: 'retry',
      exitCode: 4,
      reason: 'proxy-failed',
      facts: { proxy: `http://127.0.0.1:${port}` },
      hint: `check that the proxy http://127.0.0.1:${port} lets this host through, or reach the host without it`,
    });
  });

  test('is shown by daywalk config without its credentials, and refused if it is not a URL', async () => {
    const env = { HTTPS_PROXY: `http://etl:${PASSWORD}@proxy.example.com:3128`, no_proxy: 'a.test' };
    const { code, stdout } = await daywalkInProcess(['config', '--json'], { env, cwd: tempDir() });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).settings).toMatchObject({
      HTTPS_PROXY: { flag: null, value: 'http://[redacted]@proxy.example.com:3128/', source: 'environment' },
      NO_PROXY: { value: 'a.test', source: 'environment' },
    });
    const socks = { HTTPS_PROXY: `socks5://etl:${PASSWORD}@proxy.example.com` };
    const refused = await daywalkInProcess(['run', '--base-url', API], { env: socks, cwd: tempDir() });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('HTTPS_PROXY in the environment: the proxy is not an http(s) URL');
    expect(refused.stderr).not.toContain(PASSWORD);
  });
});
