import { UsageError } from '../../core/errors.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const BLANK = /\s/;
const QUOTED = /^(["']).*\1$/s;

/**
 * Parses an API key and trims it. No error shows any part of it.
 * @throws {UsageError} if it is empty or cannot be sent in an HTTP header
 */
export function parseApiKey(text: string): string {
  const key = text.trim();
  const refusal = refusalOf(key);
  if (refusal !== null) throw new UsageError(`the API key ${refusal.reason}`, { hint: refusal.hint });
  return key;
}

/**
 * Parses the salt for hashed email addresses and trims it.
 * @throws {UsageError} if it is empty
 */
export function parseSalt(text: string): string {
  const salt = text.trim();
  if (salt !== '') return salt;
  throw new UsageError('the salt is empty', { hint: 'make one with: openssl rand -hex 32' });
}

function refusalOf(key: string): { reason: string; hint: string } | null {
  if (key === '')
    return { reason: 'is empty', hint: 'create a key in the settings of the application and set it here' };
  if (/^bearer\s/i.test(key)) return { reason: 'begins with "Bearer"', hint: 'give the key alone' };
  if (QUOTED.test(key))
    return { reason: 'is wrapped in quotes', hint: 'remove the quotes; they are not part of the key' };
  if (BLANK.test(key))
    return { reason: 'has a blank or a line break in it', hint: 'give one key, on one line' };
  if (!VISIBLE_ASCII.test(key)) {
    return {
      reason: 'has characters that cannot stand in an HTTP header',
      hint: 'copy it again; a key is plain ASCII',
    };
  }
  return null;
}
