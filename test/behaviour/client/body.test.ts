import { createGzip, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { BODY_BYTES_MAX } from '../../../src/http/limits.ts';
import { requestTo, testRequester, thrownBy } from '../../support/api/test-transport.ts';
import { http, rawServer } from '../../support/network/raw-server.ts';

const MIB = 1024 * 1024;

/** A gzip member of `mib` MiB of spaces, a thousandth as long. */
async function bomb(mib: number): Promise<Buffer> {
  const zip = createGzip({ level: 9 });
  const chunks: Buffer[] = [];
  zip.on('data', (chunk) => chunks.push(chunk));
  const block = Buffer.alloc(MIB, ' ');
  for (let n = 0; n < mib; n += 1) {
    if (!zip.write(block)) await new Promise((resolve) => zip.once('drain', resolve));
  }
  await new Promise((resolve) => zip.once('end', resolve).end());
  return Buffer.concat(chunks);
}

describe('a body', () => {
  it('Z2: that decompresses to more than allowed is refused in bounded memory, and not retried', {
    tags: 'ci/again',
  }, async () => {
    const mib = 600;
    const bytes = await bomb(mib);
    expect(bytes.length).toBeLessThan(MIB);
    const server = await rawServer(
      (socket) => void socket.write(http(200, bytes, { 'content-encoding': 'gzip' })),
    );
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    const error = await thrownBy(testRequester({ timeoutMs: 20_000 }).send(requestTo(server.url)));
    clearInterval(watch);
    expect(error).toMatchObject({
      name: 'RequestError',
      effect: 'unit',
      message: expect.stringContaining(`more than ${BODY_BYTES_MAX} bytes`),
    });
    expect(peak - before).toBeLessThan(3 * BODY_BYTES_MAX);
  });

  it('of endless length is refused at the limit', async () => {
    const server = await rawServer((socket) => {
      socket.write(http(200, '', { 'content-length': undefined, connection: 'close' }));
      const block = Buffer.alloc(MIB, ' ');
      const more = () => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on('drain', more);
      more();
    });
    expect(await thrownBy(testRequester({ timeoutMs: 20_000 }).send(requestTo(server.url)))).toMatchObject({
      effect: 'unit',
      message: expect.stringContaining('bytes'),
    });
  });

  it('of an error that is too large does not hide the status', async () => {
    const server = await rawServer((socket, { index }) => {
      const bytes = Buffer.alloc(2 * MIB, ' ');
      socket.write(
        index === 1 ? http(500, bytes) : http(500, gzipSync(bytes), { 'content-encoding': 'gzip' }),
      );
    });
    const { send } = testRequester();
    expect(await thrownBy(send(requestTo(server.url)))).toMatchObject({ status: 500, effect: 'retry' });
    expect(await thrownBy(send(requestTo(server.url)))).toMatchObject({ status: 500, effect: 'retry' });
  });
});
