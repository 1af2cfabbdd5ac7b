import dns from 'node:dns';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import type { RunEvent } from '../../../src/pipeline/events.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import { selfSigned } from '../../support/network/certificates.ts';
import { connectProxy, tlsFront } from '../../support/network/connect-proxy.ts';
import { daywalk, envOf } from '../../support/process/daywalk-process.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';
import { testVariants } from '../../support/suite/variants.ts';

const SMALL = { today: parseDay('2026-01-24'), users: 10, reports: 3 };
const HOST = 'api.example.test';
const UNTIL = parseDay('2026-01-16');
const REFUSED = 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n';

/** A run of half an hour of patience through a proxy to a service with this certificate, or to a refusal. */
async function throughProxy(more: {
  cert?: Parameters<typeof selfSigned>;
  trusts?: boolean;
  answer?: string;
}) {
  const { cert = [HOST, `DNS:${HOST}`], trusts = true, answer } = more;
  const tls = selfSigned(...cert);
  if (tls === null) return null;
  const rig = await createRig(SMALL);
  const front = await tlsFront(Number(new URL(rig.emulator.url).port), tls);
  const proxy = await connectProxy(front.port, answer);
  const env = {
    ...envOf(rig, { DAYWALK_BASE_URL: `https://${HOST}`, DAYWALK_PATIENCE: '30m', DAYWALK_ATTEMPTS: '2' }),
    ...{ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` },
    ...(trusts && { NODE_EXTRA_CA_CERTS: tls.certPath }),
  };
  const run = async () => {
    const before = proxy.tunnels.length;
    const { code, stderr } = await daywalk(['run', '--log', 'json'], { env, cwd: tempDir() });
    return { code, stderr, tunnels: proxy.tunnels.length - before, hasWaited: stderr.includes('wait-began') };
  };
  const makeKnown = () =>
    rig.sql(
      'INSERT INTO export_state (org_id, name, value) VALUES (?, ?, ?) RETURNING 1',
      ...['', 'hosts-that-answered', JSON.stringify([`https://${HOST}`])],
    );
  return { rig, run, makeKnown };
}

describe('a host that has answered this warehouse before', () => {
  testVariants<readonly [string, Parameters<typeof throughProxy>[0], RegExp]>([
    ['a proxy that asks for a password', { answer: REFUSED }, /407/],
    ['a certificate that is not trusted', { trusts: false }, /not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
    [
      'a certificate that has expired',
      { cert: [HOST, `DNS:${HOST}`, { isExpired: true }] },
      /not trusted \(CERT_HAS_EXPIRED\)/,
    ],
    [
      'a certificate of another name',
      { cert: [HOST, 'DNS:other.example.test'] },
      /not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
    ],
  ])('is not waited for behind %s, as on a first contact', async (_, way, why) => {
    const place = await throughProxy(way);
    if (place === null) return;
    const first = await place.run();
    expect(first).toMatchObject({ code: 4, hasWaited: false, stderr: expect.stringMatching(why) });
    await place.makeKnown();
    expect(await place.run()).toMatchObject({ ...first, stderr: expect.stringMatching(why) });
  });

  test('is known after a run through a proxy, under the name of the host', { tags: 'ci/rare' }, async () => {
    const place = await throughProxy({});
    if (place === null) return;
    expect(await place.run()).toMatchObject({ code: 0, hasWaited: false });
    const [hosts] = await place.rig.column(
      "SELECT value FROM export_state WHERE name = 'hosts-that-answered'",
    );
    expect(hosts).toBe(JSON.stringify([`https://${HOST}`]));
  });
});

describe('a name that does not resolve', () => {
  afterEach(() => void vi.restoreAllMocks());

  const clock = hurriedClock('2026-01-24T03:00:00Z', 1_200);
  const waitsOf = (events: readonly RunEvent[]) =>
    events.flatMap((event) =>
      event.type === 'wait-began' ? ['began'] : event.type === 'wait-ended' ? [event.end] : [],
    );
  /** Names do not resolve, as if the resolver did not know them, or could not be asked. */
  const breakNames = (code: string) =>
    vi.spyOn(dns, 'lookup').mockImplementation(((name: string, ...args: unknown[]) => {
      const done = args.at(-1) as (error: Error) => void;
      const error = Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code, syscall: 'getaddrinfo' });
      setImmediate(() => done(error));
    }) as typeof dns.lookup);

  testVariants(['ENOTFOUND', 'EAI_AGAIN'])(
    'with %s ends a first contact, and is waited for if its host has answered before',
    { tags: 'ci/rare' },
    async (code) => {
      const rig = await createRig(SMALL, { patience: 30 * 60_000 });
      const baseUrl = rig.emulator.url.replace('127.0.0.1', 'localhost');
      const settings = { baseUrl, appUrl: baseUrl };
      breakNames(code);
      const first = await rig.run({ clock, settings });
      expect([first.report.exitCode, waitsOf(first.events)]).toEqual([4, []]);
      vi.restoreAllMocks();
      expect((await rig.run({ settings, until: UNTIL })).report.exitCode).toBe(0);

      const names = breakNames(code);
      let lookups = 0;
      const { report, events } = await rig.run({
        ...{ clock, settings },
        onEvent: ({ type }) => {
          if (type !== 'wait-began') return;
          void delay(200).then(() => {
            lookups = names.mock.calls.length;
            vi.restoreAllMocks();
          });
        },
      });
      expect([report.exitCode, waitsOf(events)]).toEqual([0, ['began', 'answered']]);
      expect(lookups).toBeGreaterThan(3);
    },
  );
});
