import { createGunzip, gunzipSync } from 'node:zlib';
import { BodyBytes, BodyTooLargeError } from './body.ts';

/**
 * Compressed bytes that are decoded at once, here. To decode them aside costs twice the time of a page, for the way to
 * another thread and back. They become a thousand times as many at most, which takes some tens of milliseconds.
 */
const AT_ONCE_BYTES_MAX = 64 * 1024;
/** Bytes of a piece of what comes out, besides that it is no smaller than what goes in; zlib needs 64 at least. */
const PIECE_BYTES = { min: 64, max: 1024 * 1024 } as const;
/** Bytes at the end of a gzip member that tell the length of what it holds. */
const LENGTH_BYTES = 4;

/** Thrown for a body in an encoding that was not asked for. */
export class UnknownEncodingError extends Error {
  constructor(encoding: string) {
    super(
      `the body is encoded as ${JSON.stringify(encoding.slice(0, ENCODING_CHARS_MAX))}, and only gzip was asked for`,
    );
  }
}

/** Characters of an encoding's name that a message repeats. */
const ENCODING_CHARS_MAX = 40;

/**
 * The decoded bytes of a body; decoding ends at the first byte too many, so a compressed bomb never unfolds in memory.
 * @throws {BodyTooLargeError} beyond `bytesMax`; {@link UnknownEncodingError}; the error of zlib for one that is cut
 * or broken.
 */
export async function decodeBody(
  bytes: Buffer,
  encoding: string | undefined,
  bytesMax: number,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return bytes;
  if (name !== 'gzip' && name !== 'x-gzip') throw new UnknownEncodingError(name);
  if (bytes.length > AT_ONCE_BYTES_MAX) return gunzipAside(bytes, bytesMax);
  try {
    return gunzipSync(bytes, { maxOutputLength: bytesMax, chunkSize: pieceBytes(bytes) });
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLargeError(bytesMax);
    throw error;
  }
}

/**
 * Room for all that comes out, as far as the body tells the truth. It need not: the last of several members tells its
 * own length only. With room for as many bytes as go in there are a thousand pieces at most all the same.
 */
function pieceBytes(bytes: Buffer): number {
  const least = Math.max(PIECE_BYTES.min, bytes.length);
  if (bytes.length < LENGTH_BYTES) return least;
  const told = bytes.readUInt32LE(bytes.length - LENGTH_BYTES);
  // One more, or zlib would look whether there is something left.
  return Math.min(PIECE_BYTES.max, Math.max(least, told + 1));
}

/** Decodes in another thread, piece by piece. */
function gunzipAside(bytes: Buffer, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const decoded = new BodyBytes(bytesMax);
    const stream = createGunzip();
    stream.on('data', (piece: Buffer) => {
      try {
        decoded.add(piece);
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    stream.on('end', () => resolve(decoded.take()));
    stream.on('error', reject);
    stream.end(bytes);
  });
}
