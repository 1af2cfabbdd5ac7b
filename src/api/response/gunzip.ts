import { createGunzip, gunzipSync } from 'node:zlib';
import { BodyBytes, BodyTooLargeError } from './body.ts';

/**
 * Up to this many compressed bytes are decoded on this thread: for a page, sending them to another thread and back takes
 * twice as long as decoding. They decode to at most a thousand times as many bytes, in some tens of milliseconds.
 */
const AT_ONCE_BYTES_MAX = 64 * 1024;
/** Bounds of the bytes of an output piece. A piece is also no smaller than the input; zlib needs at least 64 bytes. */
const PIECE_BYTES = { min: 64, max: 1024 * 1024 } as const;
/** Bytes at the end of a gzip member that hold its decoded length. */
const LENGTH_BYTES = 4;

/** A body has an encoding that was not requested. */
export class UnknownEncodingError extends Error {
  constructor(encoding: string) {
    super(
      `the body is encoded as ${JSON.stringify(encoding.slice(0, ENCODING_CHARS_MAX))}; only gzip was requested`,
    );
  }
}

/** Maximum number of characters of an encoding's name in a message. */
const ENCODING_CHARS_MAX = 40;

/**
 * The decoded bytes of a body. Decoding stops at the first byte beyond `bytesMax`, so a gzip bomb never fills the memory.
 * @throws {BodyTooLargeError} beyond `bytesMax`; {@link UnknownEncodingError}; zlib's error for a cut or broken body.
 */
export async function decodeBody(
  bytes: Buffer,
  encoding: string | undefined,
  bytesMax: number,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return bytes;
  if (name !== 'gzip' && name !== 'x-gzip') throw new UnknownEncodingError(name);
  if (bytes.length > AT_ONCE_BYTES_MAX) return gunzipInThread(bytes, bytesMax);
  try {
    return gunzipSync(bytes, { maxOutputLength: bytesMax, chunkSize: pieceBytes(bytes) });
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLargeError(bytesMax);
    throw error;
  }
}

/**
 * The size of an output piece: enough for the whole output if the body states its length correctly. But a body of several
 * gzip members states only the length of the last one. Pieces are at least as large as the input, so there are never more
 * than about a thousand.
 */
function pieceBytes(bytes: Buffer): number {
  const least = Math.max(PIECE_BYTES.min, bytes.length);
  if (bytes.length < LENGTH_BYTES) return least;
  const stated = bytes.readUInt32LE(bytes.length - LENGTH_BYTES);
  // With one more byte, zlib need not check for further output.
  return Math.min(PIECE_BYTES.max, Math.max(least, stated + 1));
}

/** Decodes in another thread, piece by piece. */
function gunzipInThread(bytes: Buffer, bytesMax: number): Promise<Buffer> {
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
