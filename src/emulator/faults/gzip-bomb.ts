import { gzipSync } from 'node:zlib';

/** The bomb consists of gzip members of this size, so that building it takes little memory. */
const MEMBER_BYTES = 1024 * 1024;
let member: Buffer | undefined;

/** Builds a valid gzip body that expands to `bytes` spaces, about a thousand times its own size. */
export function buildGzipBomb(bytes: number): Buffer {
  member ??= gzipSync(Buffer.alloc(MEMBER_BYTES, ' '));
  const whole = Math.floor(bytes / MEMBER_BYTES);
  const rest = gzipSync(Buffer.alloc(bytes % MEMBER_BYTES, ' '));
  return Buffer.concat([...new Array<Buffer>(whole).fill(member), rest]);
}
