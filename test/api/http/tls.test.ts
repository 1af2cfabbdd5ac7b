import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { json, rawServer } from '../../support/raw-server.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { targetOf, testRequester, testTransport, thrownBy } from '../../support/transport.ts';

/** A key and a certificate that nobody signed but itself; null where this machine has no openssl. */
function selfSigned(name: string): { key: string; cert: string } | null {
  const folder = tempDir();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  try {
    const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', [...args, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  } catch {
    return null;
  }
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

describe('a certificate that is not trusted', () => {
  it('ends the run with exit code 4 before the key is sent', async (context) => {
    const tls = selfSigned('localhost');
    if (tls === null) return context.skip('this machine has no openssl');
    const server = await rawServer((socket) => void socket.write(json({})), { tls });
    const error = await thrownBy(testRequester().send(targetOf(server.url)));
    expect(error).toMatchObject({
      name: 'RunError',
      effect: 'run',
      exitCode: 4,
      message: expect.stringContaining('certificate'),
      hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
    expect(server.requests).toHaveLength(0);
  });

  it('is not tried again', async (context) => {
    const tls = selfSigned('localhost');
    if (tls === null) return context.skip('this machine has no openssl');
    const server = await rawServer((socket) => void socket.write(json({})), { tls });
    const transport = testTransport();
    await thrownBy(transport.get(targetOf(server.url), { signal: new AbortController().signal }));
    expect(transport.totals).toEqual({ requests: 1, retries: 0 });
  });
});

describe('https to a server that speaks http', () => {
  it('is a failure that may pass', async () => {
    const server = await rawServer((socket) => void socket.write(json({})));
    const error = await thrownBy(
      testRequester({ timeoutMs: 300 }).send(targetOf(server.url.replace('http:', 'https:'))),
    );
    expect(error).toMatchObject({ name: 'RequestError', effect: 'retry' });
  });
});
