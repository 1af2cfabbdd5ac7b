import { describe, expect, it } from 'vitest';
import { requestTo, testRequester, testTransport, thrownBy } from '../../support/api/test-transport.ts';
import { selfSigned } from '../../support/network/certificates.ts';
import { json, rawServer } from '../../support/network/raw-server.ts';

describe('Z3: an untrusted certificate', () => {
  it('ends the run with exit code 4 before the key is sent', async (context) => {
    const tls = selfSigned('localhost');
    if (tls === null) return context.skip('this machine has no openssl');
    const server = await rawServer((socket) => void socket.write(json({})), { tls });
    const error = await thrownBy(testRequester().send(requestTo(server.url)));
    expect(error).toMatchObject({
      name: 'RunError',
      effect: 'run',
      exitCode: 4,
      message: expect.stringContaining('certificate'),
      reason: 'certificate-untrusted',
    });
    expect(server.requests).toHaveLength(0);
  });

  it('is not retried', async (context) => {
    const tls = selfSigned('localhost');
    if (tls === null) return context.skip('this machine has no openssl');
    const server = await rawServer((socket) => void socket.write(json({})), { tls });
    const transport = testTransport();
    await thrownBy(transport.get(requestTo(server.url), { signal: new AbortController().signal }));
    expect(transport.totals).toEqual({ requests: 1, retries: 0 });
  });
});

describe('https to a server that speaks http', () => {
  it('is a temporary failure', async () => {
    const server = await rawServer((socket) => void socket.write(json({})));
    const error = await thrownBy(
      testRequester({ timeoutMs: 300 }).send(requestTo(server.url.replace('http:', 'https:'))),
    );
    expect(error).toMatchObject({ name: 'RequestError', effect: 'retry' });
  });
});
