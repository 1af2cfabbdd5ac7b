import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseToken, wholeNumber } from '../../../src/settings/parsers.ts';
import { problemOf, read } from '../../support/settings/read-settings.ts';

describe('a number', () => {
  test.each([
    ['0', '--concurrency: "0" is not a whole number from 1 to 256'],
    ['257', '"257" is not'],
    ['-1', '"-1" is not'],
    ['1.5', '"1.5" is not'],
    ['1e3', '"1e3" is not'],
    ['0x10', '"0x10" is not'],
    ['8 units', '"8 units" is not'],
    ['٣', '"٣" is not'],
    ['9999999999999999999', 'is not'],
  ])('is refused as %s', (text, message) => {
    expect(problemOf({ flags: { '--concurrency': text } })).toContain(message);
  });

  test('is accepted only as digits within its bounds', () => {
    const parse = wholeNumber({ min: 10, max: 500 });
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: -100, max: 1_000 }).map(String), fc.string({ maxLength: 5 })),
        (text) => {
          const expected = /^\d+$/.test(text) && Number(text) >= 10 && Number(text) <= 500;
          let taken = true;
          try {
            expect(parse(text)).toBe(Number(text));
          } catch {
            taken = false;
          }
          expect(taken).toBe(expected);
        },
      ),
    );
  });

  test('of requests per minute may be none, so that a flag can override the environment', () => {
    const env = { DAYWALK_MAX_REQUESTS_PER_MINUTE: '10' };
    expect(read({ env }).settings.maxRequestsPerMinute).toBe(10);
    const flags = { '--max-requests-per-minute': 'none' };
    expect(read({ env, flags }).settings.maxRequestsPerMinute).toBeNull();
  });
});

describe('a URL of the service', () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['HTTPS://API.example.com:8443/', 'https://api.example.com:8443'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:1', 'http://127.0.0.1:1'],
    ['http://127.9.8.7/', 'http://127.9.8.7'],
    ['http://[::1]:80/', 'http://[::1]'],
    ['https://gateway.example.com/platform/', 'https://gateway.example.com/platform'],
  ])('%s is accepted', (text, origin) => {
    expect(problemOf({ flags: { '--base-url': text } })).toBe('');
    expect(read({ flags: { '--base-url': text } }).settings.baseUrl).toBe(origin);
  });

  test.each([
    'api.example.com',
    'ftp://api.example.com',
    'http://api.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://0.0.0.0:8080',
    'http://10.0.0.1',
    'http://[::2]',
    'https://user@api.example.com',
    'https://user:canary-password@api.example.com',
    'https://api.example.com/?key=canary-password',
    'https://api.example.com/#part',
    'https://',
    'not a url',
  ])('%s is refused without showing its secrets', (text) => {
    const problem = problemOf({ env: { DAYWALK_APP_URL: text } });
    expect(problem).toMatch(/^DAYWALK_APP_URL in the environment: .+ \| .+/);
    expect(problem).not.toContain('canary-password');
  });
});

describe('a warehouse', () => {
  test.each([
    'daywalk.db',
    '/var/lib/daywalk/daywalk.db',
    './data/day walk.db',
    'C:\\data\\daywalk.db',
    'postgres://etl@db.example.com/analytics',
    'postgresql://etl:secret@db/analytics?sslmode=require',
  ])('%s is accepted', (text) => {
    expect(read({ flags: { '--warehouse': text } }).settings.warehouse).toBe(text);
  });

  test.each([
    'mysql://u:canary-password@h/d',
    'sqlite:daywalk.db',
    'file:daywalk.db',
    'postgres://u:canary-password@',
  ])('%s is refused without showing its password', (text) => {
    const problem = problemOf({ flags: { '--warehouse': text } });
    expect(problem).toMatch(/^--warehouse: /);
    expect(problem).not.toContain('canary-password');
  });

  test.each([
    ['postgres://etl:canary-password@db/analytics', 'postgres://etl:[redacted]@db/analytics'],
    [
      'postgres://etl@db/analytics?password=canary-password',
      'postgres://etl@db/analytics?password=[redacted]',
    ],
  ])('%s is shown without its password', (url, shown) => {
    const { entries } = read({ env: { DAYWALK_WAREHOUSE: url } });
    const entry = entries.find(({ setting }) => setting.env === 'DAYWALK_WAREHOUSE');
    expect(entry?.value).toBe(shown);
  });
});

describe('the token of a server', () => {
  test('is refused if it is empty, short or not typeable, without showing any of it', () => {
    for (const token of ['', ' ', 'short-secret', 'with blanks in its middle', 'ümläut-ümläut-ümläut']) {
      const refused = () => parseToken(token);
      expect(refused).toThrow(/^the token (has fewer than 16 characters|has blanks, or characters)/);
      expect(refused).not.toThrow(/short-secret|middle|ml/);
    }
    expect(parseToken(' 0123456789abcdef\n')).toBe('0123456789abcdef');
  });
});

describe('emails', () => {
  test.each([
    ['short-salt', 1],
    ['0123456789abcdef', 0],
  ])('hashed with the salt %s cause %i warnings', (salt, count) => {
    const { warnings } = read({ env: { DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: salt } });
    expect(warnings).toHaveLength(count);
    expect(JSON.stringify(warnings)).not.toContain(salt);
  });

  test('are hashed with the salt', () => {
    const env = { DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: ' pepper ' };
    expect(read({ env }).settings.emails).toEqual({ mode: 'hash', salt: 'pepper' });
  });

  test.each([
    [{ DAYWALK_EMAILS: 'hash' }, 'DAYWALK_EMAIL_SALT is not set'],
    [{ DAYWALK_EMAILS: 'hash', DAYWALK_EMAIL_SALT: '' }, 'the salt is empty'],
    [{ DAYWALK_EMAILS: 'Hash' }, '"Hash" is not one of keep, hash, drop'],
  ])('%j is refused', (env, message) => {
    const reading = read({ env });
    expect(reading.problems).toHaveLength(1);
    expect(reading.problems[0]?.message).toContain(message);
    // Whoever asked for a policy and got it wrong must not find emails stored in the clear.
    expect(reading.settings.emails.mode).not.toBe('hash');
  });
});

describe('DAYWALK_NOW', () => {
  test.each([
    ['2026-03-01T03:00:00Z', '2026-03-01T03:00:00.000Z'],
    ['2026-03-01T03:00:00.5Z', '2026-03-01T03:00:00.500Z'],
    ['2026-03-01T03:00+01:00', '2026-03-01T02:00:00.000Z'],
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59.000Z'],
  ])('%s is accepted', (text, instant) => {
    expect(read({ env: { DAYWALK_NOW: text } }).settings.now?.toISOString()).toBe(instant);
  });

  test.each([
    '2026-03-01',
    '2026-03-01T03:00:00',
    '2026-02-29T00:00:00Z',
    '2026-03-01T25:00:00Z',
    'yesterday',
    '1772334000',
  ])('%s is refused', (text) => {
    expect(problemOf({ env: { DAYWALK_NOW: text } })).toContain(`"${text}" is not an ISO instant`);
  });
});

test('a duration of more than a hundred years is refused', () => {
  expect(problemOf({ flags: { '--patience': '999999mo' } })).toContain(
    '--patience: "999999mo" is not a duration',
  );
  expect(problemOf({ flags: { '--patience': '36500d' } })).toBe('');
});
