import { UsageError } from '../../core/errors.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const BLANK = /\s/;
const QUOTED = /^(["']).*\1$/s;

/**
 * An API key, without blanks around it. No error shows any part of it.
 * @throws {UsageError} when it is empty or could not stand in an HTTP header as it is.
 */
export function parseApiKey(text: string): string {
  const key = text.trim();
  const refusal = refusalOf(key);
  if (refusal !== null) throw new UsageError(`the API key ${refusal.reason}`, { hint: refusal.hint });
  return key;
}

/**
 * The salt for hashed emails, without blanks around it.
 * @throws {UsageError} when it is empty.
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
