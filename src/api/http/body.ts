import { isAscii, isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Thrown by {@link readBody} when a body decodes to more bytes than allowed. */
export class BodyTooLargeError extends Error {}

/**
 * The decoded bytes of a body. Bytes are counted after decompression while they arrive, and the stream is destroyed
 * at the first one too many, so a compressed bomb never unfolds in memory.
 * @throws {BodyTooLargeError} beyond `bytesMax`; whatever the stream throws when it is cut or broken.
 */
export async function readBody(
  body: Readable,
  encoding: string | undefined,
  bytesMax: number,
): Promise<Buffer> {
  const decoded = encoding === 'gzip' || encoding === 'x-gzip' ? gunzip(body) : body;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of decoded) {
    const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    bytes += part.length;
    if (bytes > bytesMax) {
      body.destroy();
      throw new BodyTooLargeError(`the body decodes to more than ${bytesMax} bytes`);
    }
    chunks.push(part);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, bytes);
}

/** Text of UTF-8 bytes; undefined when they are not valid UTF-8, which a lenient decoder would alter silently. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function gunzip(body: Readable): Readable {
  const stream = createGunzip();
  body.on('error', (error) => stream.destroy(error));
  stream.on('close', () => body.destroy());
  return body.pipe(stream);
}
