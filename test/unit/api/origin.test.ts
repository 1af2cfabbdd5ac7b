import { describe, expect, it } from 'vitest';
import { parseOrigin } from '../../../src/core/addresses.ts';
import { UsageError } from '../../../src/core/errors.ts';

describe('the URL of the service', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['HTTPS://API.Example.com:443//', 'https://api.example.com'],
    ['https://proxy.example.com:8443/daywalk/eu/', 'https://proxy.example.com:8443/daywalk/eu'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:1', 'http://127.0.0.1:1'],
    ['http://127.8.9.10', 'http://127.8.9.10'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('may be %s', (text, origin) => {
    expect(parseOrigin(text, 'baseUrl')).toBe(origin);
  });

  it.each([
    ['http to another machine', 'http://api.example.com', 'not this machine'],
    ['http to a name that only looks like this machine', 'http://localhost.example.com', 'not this machine'],
    [
      'http to a number that only looks like this machine',
      'http://127.0.0.1.example.com',
      'not this machine',
    ],
    ['http to any machine', 'http://0.0.0.0', 'not this machine'],
    ['no URL', 'api.example.com', 'not an http(s) URL'],
    ['nothing', '', 'not an http(s) URL'],
    ['another scheme', 'ftp://example.com', 'not an http(s) URL'],
    ['a script', 'javascript:alert(1)', 'not an http(s) URL'],
    ['with a user', 'https://user@example.com', 'credentials'],
    ['with a password', 'https://:secret@example.com', 'credentials'],
    ['with a query', 'https://example.com?key=1', 'query'],
    ['with a fragment', 'https://example.com#x', 'query or a fragment'],
  ])('O2: may not be %s', (_, text, why) => {
    expect(() => parseOrigin(text, 'baseUrl')).toThrow(UsageError);
    expect(() => parseOrigin(text, 'baseUrl')).toThrow(why);
    expect(() => parseOrigin(text, 'DAYWALK_APP_URL')).toThrow(/^DAYWALK_APP_URL /);
  });

  it('does not appear with its password in the error', () => {
    expect(() => parseOrigin('https://user:secret@example.com', 'baseUrl')).toThrow(
      expect.not.stringContaining('secret'),
    );
  });
});
