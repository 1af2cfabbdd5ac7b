import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { StoppedError } from '../../../src/core/errors.ts';
import { OverloadError, RequestError, UnknownOutcomeError } from '../../../src/http/errors.ts';
import type { Retry } from '../../../src/http/transport.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { freePort } from '../../support/network/free-port.ts';
import { json, rawServer } from '../../support/network/raw-server.ts';
import { clientOf, emulated } from '../../support/sessions/emulated-service.ts';
import { testVariants } from '../../support/suite/variants.ts';

const REQUEST = { computerId: 'computer-1' };
const SESSION = { sessionId: 's1', status: 'pending', messageCount: 0, createdAt: 1, updatedAt: 1 };
const PATH = { path: '/api/v0/sessions', method: 'POST' };

describe('a request that never reached the service', () => {
  test('because the connection was refused is retried: one session', async () => {
    const port = await freePort();
    const retries: Retry[] = [];
    let emulator: Awaited<ReturnType<typeof emulated>> | undefined;
    const client = clientOf(
      { url: `http://127.0.0.1:${port}`, apiKey: 'trial' },
      {
        onRetry: (retry) => {
          retries.push(retry);
          void emulated({ port, apiKey: 'trial' }).then((started) => {
            emulator = started;
          });
        },
      },
    );
    const session = await client.createSession(REQUEST);
    expect(retries).toMatchObject([{ attempt: 1, error: expect.stringContaining('ECONNREFUSED') }]);
    expect(emulator?.sessions()).toMatchObject([{ sessionId: session.sessionId }]);
  });

  test('is reported as such when the attempts are used up', async () => {
    const retries: Retry[] = [];
    const client = clientOf(
      { url: `http://127.0.0.1:${await freePort()}` },
      { attempts: 2, onRetry: (retry) => void retries.push(retry) },
    );
    const error = await thrownBy(client.createSession(REQUEST));
    expect(error).toBeInstanceOf(RequestError);
    expect(retries).toHaveLength(1);
  });

  test('because its host has no address is retried', async () => {
    const retries: Retry[] = [];
    const client = clientOf(
      { url: 'https://no-such-host.invalid' },
      { attempts: 2, onRetry: (retry) => void retries.push(retry) },
    );
    expect(await thrownBy(client.createSession(REQUEST))).toBeInstanceOf(RequestError);
    expect(retries).toHaveLength(1);
  });

  testVariants([
    ['fails', (socket: { end(text: string): void }) => socket.end('this is not TLS')],
    ['is cut off', (socket: { destroy(): void }) => socket.destroy()],
    ['does not end in time', () => undefined],
  ])('because the TLS handshake %s is retried', async (_, reply) => {
    const { createServer } = await import('node:net');
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => socket.destroy());
      socket.once('data', () => reply(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const client = clientOf({ url: `https://127.0.0.1:${port}` }, { attempts: 2, requestTimeoutMs: 400 });
    const error = await thrownBy(client.createSession(REQUEST));
    expect(error).toBeInstanceOf(RequestError);
    expect(connections).toBeGreaterThanOrEqual(2);
    await client.close();
    server.close();
  });
});

describe('a request that was sent', () => {
  testVariants([
    ['is reset', (socket: { resetAndDestroy(): unknown }) => socket.resetAndDestroy()],
    ['ends without an answer', (socket: { destroy(): unknown }) => socket.destroy()],
    [
      'is answered with what is not HTTP',
      (socket: { end(text: string): unknown }) => socket.end('SSH-2.0\r\n\r\n'),
    ],
    ['is not answered in time', () => undefined],
  ])('and %s is not retried, and the error says what may have happened', async (_, reply) => {
    const server = await rawServer((socket) => void reply(socket));
    const retries: Retry[] = [];
    const client = clientOf(server, { requestTimeoutMs: 300, onRetry: (retry) => void retries.push(retry) });
    const error = await thrownBy(client.createSession(REQUEST));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(error).toMatchObject({ outcome: 'unknown', status: undefined, exitCode: 4 });
    expect(String(error)).toContain('a session may have been created: check before trying again');
    expect(server.requests).toHaveLength(1);
    expect(retries).toEqual([]);
  });

  test('and whose response got lost has created a session', async () => {
    const emulator = await emulated();
    emulator.setRules([{ match: PATH, action: { type: 'reset', afterBytes: 0 } }]);
    const error = await thrownBy(clientOf(emulator).createSession(REQUEST));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(emulator.sessions()).toHaveLength(1);
    expect(emulator.journal().requests).toBe(1);
  });

  test('and reset before processing has created none, which the client cannot know', async () => {
    const emulator = await emulated();
    emulator.setRules([{ match: PATH, action: { type: 'reset' } }]);
    expect(await thrownBy(clientOf(emulator).createSession(REQUEST))).toBeInstanceOf(UnknownOutcomeError);
    expect(emulator.sessions()).toHaveLength(0);
    expect(emulator.journal().requests).toBe(1);
  });

  test('and aborted by its caller may have created one', async () => {
    const stop = new AbortController();
    const server = await rawServer(() => stop.abort(new StoppedError('SIGINT')));
    const error = await thrownBy(clientOf(server, { signal: stop.signal }).createSession(REQUEST));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(error).toMatchObject({ exitCode: 130 });
    expect(String(error)).toContain('stopped by SIGINT; a session may have been created');
  });

  test('and in progress when the client was closed may have created one', async () => {
    const server = await rawServer(() => void client.close());
    const client = clientOf(server);
    const error = await thrownBy(client.createSession(REQUEST));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(error).toMatchObject({ exitCode: 4 });
  });

  test('uses a new connection, never one kept open by an earlier request', async () => {
    const emulator = await emulated();
    const client = clientOf(emulator);
    await client.activity({ startDate: '2026-02-01', endDate: '2026-02-01' });
    // From here on every connection that is used a second time is found closed.
    emulator.setQuirks({ keepAlive: false });
    for (let count = 0; count < 5; count += 1) await client.createSession(REQUEST);
    expect(emulator.sessions()).toHaveLength(5);
  });
});

describe('429', () => {
  test('is retried after the requested time: one session', { tags: 'ci/rare' }, async () => {
    const emulator = await emulated();
    emulator.setRules([
      { match: PATH, when: { count: 2 }, action: { type: 'status', status: 429, retryAfter: 1 } },
    ]);
    const retries: Retry[] = [];
    const begunMs = performance.now();
    await clientOf(emulator, { onRetry: (retry) => void retries.push(retry) }).createSession(REQUEST);
    expect(performance.now() - begunMs).toBeGreaterThan(1_900);
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2]);
    for (const { waitMs } of retries) expect(waitMs).toBeGreaterThanOrEqual(1_000);
    expect(emulator.sessions()).toHaveLength(1);
    expect(emulator.journal().byStatus).toEqual({ 201: 1, 429: 2 });
  });

  test('that persists is an error after all attempts, and creates no session', async () => {
    const emulator = await emulated();
    emulator.setRules([{ match: PATH, action: { type: 'status', status: 429, retryAfter: 0 } }]);
    const error = await thrownBy(clientOf(emulator, { attempts: 2 }).createSession(REQUEST));
    expect(error).toBeInstanceOf(OverloadError);
    expect(emulator.sessions()).toHaveLength(0);
    expect(emulator.journal().requests).toBe(2);
  });
});

test('an untrusted certificate ends the request before anything is sent', async (context) => {
  const { tempFile } = await import('../../support/suite/temp-dir.ts');
  const { readFileSync } = await import('node:fs');
  const [key, cert] = [tempFile('key.pem'), tempFile('cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-days', '2'];
  try {
    const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', [...args, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  } catch {
    return context.skip('this machine has no openssl');
  }
  const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  const server = await rawServer((socket) => void socket.write(json(SESSION, {}, 201)), { tls });
  const error = await thrownBy(clientOf(server).createSession(REQUEST));
  expect(error).toMatchObject({ name: 'RunError', message: expect.stringContaining('certificate') });
  expect(server.requests).toHaveLength(0);
});
