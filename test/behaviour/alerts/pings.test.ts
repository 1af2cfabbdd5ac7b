import { createServer } from 'node:https';
import { describe, expect, onTestFinished, test } from 'vitest';
import { StoppedError } from '../../../src/core/errors.ts';
import { pingUrl } from '../../../src/serve/alerts/pings.ts';
import { ANSWERS, receiver, redirectTo } from '../../support/alerts/receiver.ts';
import { DELAY_MS_MAX, round } from '../../support/alerts/round.ts';
import { selfSigned } from '../../support/network/certificates.ts';
import { connectProxy } from '../../support/network/connect-proxy.ts';
import { freePort } from '../../support/network/free-port.ts';
import { createRig, rigOver } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const SMALL = { users: 6, reports: 3, today: '2026-01-20' } as const;
const BASE = '/ping/canary-ping-token';

describe('the pings of a run', () => {
  test('report its start and its success with the same run ID and a summary', async () => {
    const rig = await createRig(SMALL);
    const { url, received } = await receiver();
    const { report, warnings } = await round(rig, { alerts: { pingUrl: `${url}?team=a%20b` } });
    expect([report.exitCode, warnings]).toEqual([0, []]);
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST ${BASE}/start`,
      `POST ${BASE}`,
    ]);
    const [start, end] = received;
    expect(start?.query.get('rid')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
    expect(end?.query.get('rid')).toBe(start?.query.get('rid'));
    expect(end?.query.get('team')).toBe('a b');
    expect(end?.body).toMatch(
      /^daywalk run ended with exit code 0: everything requested .*\n\S+: exit code 0; 31 units/,
    );
  });

  test('report its failure with the exit code and the status of the service', async () => {
    const rig = await createRig(SMALL);
    const { url, received } = await receiver();
    const { report } = await round(rig, { alerts: { pingUrl: url }, settings: { apiKey: 'sk-wrong-key-1' } });
    expect(report.exitCode).toBe(3);
    expect(received.map(({ path }) => path)).toEqual([`${BASE}/start`, `${BASE}/3`]);
    expect(received[1]?.body).toMatch(/answered 401 \(requestId req_\w+\)/);
  });

  test('report the exit code alone if the run could not begin', async () => {
    const rig = await createRig(SMALL);
    const { url, received } = await receiver();
    const { report } = await round(rig, {
      alerts: { pingUrl: url },
      settings: { warehouse: '/dev/null/x.db' },
    });
    expect(received.map(({ path }) => path)).toEqual([`${BASE}/${report.exitCode}`]);
  });

  test('are not sent by a run that finds the warehouse busy, because the other run sends its own', async () => {
    const rig = await createRig(SMALL);
    const { url, received } = await receiver();
    const first = rig.run({ onEvent: () => undefined });
    const { report } = await round(rig, { alerts: { pingUrl: url } });
    await first;
    expect(report.exitCode).toBe(75);
    expect(received).toEqual([]);
  });

  test('report neither success nor failure of a run that a signal stops', async () => {
    const rig = await createRig(SMALL);
    const stop = new AbortController();
    const { url, received } = await receiver((response) => {
      stop.abort(new StoppedError('SIGTERM'));
      ANSWERS.accepts(response);
    });
    const { report } = await round(rig, { alerts: { pingUrl: url }, signal: stop.signal });
    expect(report.exitCode).toBe(143);
    expect(received.map(({ path }) => path)).toEqual([`${BASE}/start`, `${BASE}/log`]);
  });

  test('go through the proxy, except to this machine', { tags: 'ci/rare' }, async () => {
    const rig = await createRig(SMALL);
    const { url, received } = await receiver();
    const proxy = await connectProxy(1, 'HTTP/1.1 502 Bad Gateway\r\n\r\n');
    const settings = { proxy: { url: `http://127.0.0.1:${proxy.port}`, noProxy: '' } };
    await round(rig, { alerts: { pingUrl: url }, settings });
    expect([received.length, proxy.tunnels.length]).toEqual([2, 0]);
    const { warnings } = await round(rig, {
      alerts: { pingUrl: 'https://ping.example.com/canary-ping-token' },
      settings,
    });
    expect(proxy.tunnels[0]?.to).toBe('ping.example.com:443');
    expect(warnings).toHaveLength(1);
    expect(proxy.seen() + warnings.join()).not.toContain('canary-ping-token');
  });
});

test('the address of a ping keeps path, query and encoding', () => {
  expect(pingUrl('https://h/p/', 'start', 'r')).toBe('https://h/p/start?rid=r');
  expect(pingUrl('https://h/p?a=b%20c+d&e', 4, 'r')).toBe('https://h/p/4?a=b%20c+d&e&rid=r');
  expect(pingUrl('https://h', 'success', 'r')).toBe('https://h/?rid=r');
});

describe('a run whose pings', () => {
  testVariants([
    ['are never answered', ANSWERS.hangs],
    ['are answered byte by byte', ANSWERS.drips],
    ['get a head byte by byte', ANSWERS['drips its head']],
    ['are refused with 500', ANSWERS['answers 500']],
    ['are refused with 404', ANSWERS['answers 404']],
    ['lose their connection', ANSWERS['closes the connection']],
    ['get an answer that is not HTTP', ANSWERS['answers nonsense']],
  ])(
    '%s has the same result, one warning, and less than five seconds of delay',
    { tags: 'ci/rare' },
    async (_, answer) => {
      const rig = await createRig(SMALL);
      const other = rigOver(rig.emulator, sqlite.place(), rig.today);
      await other.run();
      const { url } = await receiver(answer);
      const { report, warnings, delayMs } = await round(rig, { alerts: { pingUrl: url } });
      expect(report.exitCode).toBe(0);
      expect(warnings).toEqual([expect.stringMatching(/^the ping was not accepted: /)]);
      expect(warnings.join()).not.toContain('canary');
      expect(delayMs).toBeLessThan(DELAY_MS_MAX);
      expect(await rig.digest()).toBe(await other.digest());
    },
  );

  test('are redirected sends nothing to the other address, and has one warning', async () => {
    const rig = await createRig(SMALL);
    const other = await receiver();
    const { url, received } = await receiver(redirectTo(other.url));
    const { report, warnings } = await round(rig, { alerts: { pingUrl: url } });
    expect([report.exitCode, received.length, other.received.length]).toEqual([0, 2, 0]);
    expect(warnings).toEqual([expect.stringContaining('it redirects (307)')]);
  });

  test('meet an untrusted certificate sends nothing, and has one warning', async ({ skip }) => {
    const certificate = selfSigned('ping.example.com');
    if (certificate === null) return skip('there is no openssl on this machine');
    let requests = 0;
    const server = createServer(certificate, (_, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const rig = await createRig(SMALL);
    const alerts = {
      pingUrl: `https://127.0.0.1:${port}/canary-x`,
      alertWebhook: `https://127.0.0.1:${port}/y`,
    };
    const { report, warnings } = await round(rig, {
      alerts,
      settings: { attempts: 1, apiKey: 'sk-wrong-1' },
    });
    expect([report.exitCode, requests]).toEqual([3, 0]);
    expect(warnings.toSorted()).toEqual(
      ['notification', 'ping'].map(
        (what) => `the ${what} was not accepted: the request failed (DEPTH_ZERO_SELF_SIGNED_CERT)`,
      ),
    );
  });

  test('cannot reach a server has the same result, and one warning', async () => {
    const rig = await createRig(SMALL);
    for (const origin of [`http://127.0.0.1:${await freePort()}`, 'https://no-such-host.invalid']) {
      const { report, warnings, delayMs } = await round(rig, { alerts: { pingUrl: `${origin}/canary-x` } });
      expect(report.exitCode).toBe(0);
      expect(warnings).toEqual([
        expect.stringMatching(/^the ping was not accepted: the request failed \(E\w+\)/),
      ]);
      expect(delayMs).toBeLessThan(DELAY_MS_MAX);
    }
  });
});
