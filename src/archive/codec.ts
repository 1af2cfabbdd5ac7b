import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

/** Far above any day, so that a damaged file does not fill the memory. */
const BYTES_MAX = 2 ** 31 - 1;
/** A seventh of the size of JSON at 400 MB a second; quality 4 saves a tenth more for three times the time. */
const BROTLI_QUALITY = 1;
/** A quarter less time than with the largest window, for 1 % more bytes. */
const BROTLI_WINDOW_BITS = 18;

const CHUNK_BYTES_MIN = 1_024;
/** Rows are compressed at least by this, nearly always. */
const RATIO_EXPECTED = 4;

/** How objects are compressed. The name of a codec is the extension of its files. */
export interface Codec {
  readonly name: 'br' | 'zst';
  compress(bytes: Buffer): Promise<Buffer>;
  /** @throws {Error} if the bytes are damaged, or are more or less than one compressed text. */
  decompress(bytes: Buffer): Promise<Buffer>;
}

const brotliCompress = promisify(zlib.brotliCompress);

/** Room for the result, so that the thread that compresses need not return for more. */
function chunkSizeOf(bytes: Buffer): number {
  return Math.max(CHUNK_BYTES_MIN, Math.ceil(bytes.length / RATIO_EXPECTED));
}

const brotli: Codec = {
  name: 'br',
  compress: (bytes) =>
    brotliCompress(bytes, {
      params: {
        [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [zlib.constants.BROTLI_PARAM_MODE]: zlib.constants.BROTLI_MODE_TEXT,
        [zlib.constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
        [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
      chunkSize: chunkSizeOf(bytes),
    }),
  decompress: (bytes) => decompressAll(zlib.brotliDecompress, bytes),
};

type Compress = (bytes: Buffer, options: object, done: (error: Error | null, result: Buffer) => void) => void;

/** What Node returns if it is asked for its engine too. */
interface WithEngine {
  readonly buffer: Buffer;
  /** Bytes that were read. */
  readonly engine: { readonly bytesWritten: number };
}

/** Decompresses a text that ends where the bytes end: bytes after it could be those of another one. */
async function decompressAll(decompress: Compress, bytes: Buffer): Promise<Buffer> {
  const result: unknown = await promisify(decompress)(bytes, { maxOutputLength: BYTES_MAX, info: true });
  if (!isWithEngine(result)) throw new TypeError('decompress: Node returned no engine');
  if (result.engine.bytesWritten < bytes.length)
    throw new RangeError('other bytes follow the compressed text');
  return result.buffer;
}

function isWithEngine(value: unknown): value is WithEngine {
  if (typeof value !== 'object' || value === null || !('buffer' in value) || !('engine' in value))
    return false;
  return Buffer.isBuffer(value.buffer) && typeof Object(value.engine).bytesWritten === 'number';
}

/** Node has zstd from 22.15 on. */
const zstdOf = (name: 'zstdCompress' | 'zstdDecompress'): Compress | null => {
  const found: unknown = Reflect.get(zlib, name);
  return typeof found === 'function' ? (...call) => void Reflect.apply(found, zlib, call) : null;
};

function zstdCodec(): Codec | null {
  const [compress, decompress] = [zstdOf('zstdCompress'), zstdOf('zstdDecompress')];
  if (compress === null || decompress === null) return null;
  return {
    name: 'zst',
    compress: (bytes) => promisify(compress)(bytes, { chunkSize: chunkSizeOf(bytes) }),
    decompress: (bytes) => decompressAll(decompress, bytes),
  };
}

/** The codecs that this Node has. The first one compresses. */
export const CODECS: readonly [Codec, ...Codec[]] = withBest(zstdCodec());

function withBest(best: Codec | null): readonly [Codec, ...Codec[]] {
  return best === null ? [brotli] : [best, brotli];
}
