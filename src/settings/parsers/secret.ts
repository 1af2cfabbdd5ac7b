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

/** 16 random characters cannot be found by trying. */
const TOKEN_LENGTH_MIN = 16;

/**
 * Parses the token of the dashboard and trims it. No error shows any part of it.
 * @throws {UsageError} if it is short, or people could not type it into a form
 */
export function parseToken(text: string): string {
  const token = text.trim();
  if (token.length < TOKEN_LENGTH_MIN || !VISIBLE_ASCII.test(token)) {
    const problem =
      token.length < TOKEN_LENGTH_MIN
        ? `has fewer than ${TOKEN_LENGTH_MIN} characters`
        : 'has blanks, or characters that are not ASCII';
    throw new UsageError(`the token ${problem}`, { hint: 'make one with: openssl rand -hex 32' });
  }
  return token;
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
