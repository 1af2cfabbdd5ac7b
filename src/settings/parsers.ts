import { resolve } from 'node:path';
import { isLoopbackHost, parseOrigin } from '../core/addresses.ts';
import { UsageError } from '../core/errors.ts';
import { isPostgres, schemeOf } from '../port/index.ts';
import { maskUserInfo } from './secrets.ts';

/** Creates a parser for one of a list of words. */
export function oneOf<const Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word !== undefined) return word;
    throw new UsageError(`"${text}" is not one of ${words.join(', ')}`, {
      hint: `choose from ${words.join(', ')}`,
    });
  };
}

/** Parses a switch: 1 or true, 0 or false. */
export function onOrOff(text: string): boolean {
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw new UsageError(`"${text}" is neither 1 nor 0`, {
    hint: 'give 1 to switch it on, 0 to switch it off',
  });
}

/** Creates a parser for a comma-separated list of known words. The result holds each word once, in the order of `words`; `none` gives an empty list. */
export function listOf<const Word extends string>(words: readonly Word[]): (text: string) => readonly Word[] {
  return (text) => {
    const given = text === 'none' ? [] : text.split(',').map((word) => word.trim());
    const unknown = given.find((word) => !words.some((known) => known === word));
    if (unknown === undefined) return words.filter((word) => given.includes(word));
    throw new UsageError(`"${unknown}" is not one of ${words.join(', ')}`, {
      hint: `choose from ${words.join(', ')}, separated by commas, or none`,
    });
  };
}

/** Inclusive bounds of a whole number. */
export interface NumberBounds {
  readonly min: number;
  readonly max: number;
}

const WHOLE_NUMBER = /^\d{1,15}$/;
const DIGITS = /^\d+$/;

/** Creates a parser for whole numbers within bounds. It accepts digits only: no sign, fraction, exponent or separator. */
export function wholeNumber({ min, max }: NumberBounds) {
  const parse = (text: string): number => {
    const value = WHOLE_NUMBER.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    const example = Math.min(max, Math.max(min, 8));
    throw new UsageError(`"${text}" is not a whole number from ${min} to ${max}`, {
      hint: DIGITS.test(text)
        ? `it is too ${text.length > 15 || value > max ? 'large' : 'small'}: give a number from ${min} to ${max}`
        : `give digits alone, for example ${example}`,
    });
  };
  return Object.assign(parse, { range: `${min} to ${max}` });
}

/** Like {@link wholeNumber}; the word `none` gives null. */
export function wholeNumberOrNone(bounds: NumberBounds) {
  const parse = wholeNumber(bounds);
  return Object.assign((text: string) => (text === 'none' ? null : parse(text)), { range: parse.range });
}

const DECIMAL = /^\d{1,6}(\.\d{1,9})?$/;

/**
 * Parses a share: 0.2 is a fifth.
 * @throws {UsageError} if it is not a decimal number of at least 0
 */
export function parseShare(text: string): number {
  if (DECIMAL.test(text)) return Number(text);
  throw new UsageError(`"${text}" is not a share`, { hint: 'write a decimal number: 0.2 is a fifth' });
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Parses an ISO 8601 instant with a time zone. Strict: it refuses a date without a time, a local time, and 31 June, which
 * `Date` would move to July.
 * @throws {UsageError} if it is not one
 */
export function parseInstant(text: string): Date {
  const instant = new Date(INSTANT.test(text) ? text : Number.NaN);
  if (!Number.isNaN(instant.getTime()) && namesRealDay(text)) return instant;
  throw new UsageError(`"${text}" is not an ISO instant`, { hint: 'write it as 2026-03-01T03:00:00Z' });
}

function namesRealDay(text: string): boolean {
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

/**
 * Parses the path of a folder.
 * @throws {UsageError} if it is empty
 */
export function parseFolder(text: string): string {
  if (text !== '') return text;
  throw new UsageError('the path is empty', { hint: 'give the path of a folder' });
}

/**
 * Parses paths that are separated by commas. Each comes once.
 * @throws {UsageError} if one of them is empty
 */
export function parsePaths(text: string): readonly string[] {
  const paths = text.split(',').map((path) => path.trim());
  if (paths.every((path) => path !== '')) return [...new Set(paths)];
  throw new UsageError('a path is empty', { hint: 'give the path of a file or a folder' });
}

/**
 * Parses a text.
 * @throws {UsageError} if it is empty
 */
export function parseText(text: string): string {
  if (text !== '') return text;
  throw new UsageError('the text is empty', { hint: 'give a text, or leave the setting out' });
}

/** Parses the path of a file, and makes it absolute. */
export function parsePath(text: string, directory: string): string {
  return resolve(directory, text);
}

/** Parses the origin of a host of the service. */
export function parseHost(text: string): string {
  return parseOrigin(text, 'the value');
}

/**
 * Parses a warehouse location: a SQLite path, or `postgres://…`.
 * @throws {UsageError} for any other URL, which would otherwise become the name of a file
 */
export function parseWarehouse(text: string): string {
  if (text === '')
    throw new UsageError('the location is empty', { hint: 'give a path, for example daywalk.db' });
  if (isPostgres(text)) return parsePostgres(text);
  const scheme = schemeOf(text);
  if (scheme === undefined) return text;
  throw new UsageError(`"${maskUserInfo(text)}" is not a warehouse: ${scheme}: is not known`, {
    hint: 'give the path of a SQLite file, for example daywalk.db, or postgres://user@host/database',
  });
}

function parsePostgres(text: string): string {
  if (URL.canParse(text)) return text;
  throw new UsageError(`"${maskUserInfo(text)}" is not a PostgreSQL URL`, {
    hint: 'write it as postgres://user:password@host:5432/database, special characters of the password percent-encoded',
  });
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?)(:\d{1,5})?$/i;

/**
 * Parses names of hosts, separated by commas, each with a port or without.
 * @throws {UsageError} for one that no browser would send
 */
export function parseHostNames(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const wrong = names.find((name) => !HOST.test(name));
  if (wrong === undefined) return names;
  throw new UsageError(`"${wrong}" is not the name of a host`, {
    hint: 'write HOST or HOST:PORT as it stands in the address of the browser, for example daywalk.example.com',
  });
}

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

/** Parses the address of a webhook, see {@link secretUrl}. */
export const parseWebhook = secretUrl('the webhook');

/** Parses the address that receives pings, see {@link secretUrl}. */
export const parsePingUrl = secretUrl('the ping URL');

/**
 * Creates a parser for an address that holds a secret: https, or http on this machine. It throws a {@link UsageError} for
 * any other address, which shows no part of it.
 */
function secretUrl(name: string): (text: string) => string {
  return (text) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw new UsageError(`${name} is not an http(s) URL`, {
        hint: 'copy the whole address, beginning with https://',
      });
    }
    if (url.username !== '' || url.password !== '') {
      throw new UsageError(`${name} has credentials in it`, {
        hint: 'use an address without user and password',
      });
    }
    if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
      throw new UsageError(`${name} is http, and not on this machine`, {
        hint: 'use https; http is for loopback addresses only, because what is sent would be readable on the way',
      });
    }
    return url.href;
  };
}
