import { createHash } from 'node:crypto';

/**
 * The key of an advisory lock, as decimal text of a signed 64-bit number. These locks share one namespace per
 * database, so the key includes the schema and a name of this program. 64 bits of SHA-256 do not collide by chance.
 */
export function lockKey(schema: string, parts: readonly string[]): string {
  const text = JSON.stringify(['daywalk', schema, ...parts]);
  return createHash('sha256').update(text).digest().readBigInt64BE(0).toString();
}
