import { createHash } from 'node:crypto';

/**
 * The key of an advisory lock, as decimal text of a signed 64-bit number. Such locks are one namespace per database, so
 * the schema and a name of ours go into the key; 64 bits of SHA-256 do not collide by chance.
 */
export function lockKey(schema: string, parts: readonly string[]): string {
  const text = JSON.stringify(['daywalk', schema, ...parts]);
  return createHash('sha256').update(text).digest().readBigInt64BE(0).toString();
}
