import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../src/settings/secrets.ts';
import { redactorOfEnvironment, secretsOf } from '../../../src/settings/settings.ts';
import { read } from '../../support/settings/read-settings.ts';

describe('redaction', () => {
  test('finds a secret in plain text, in JSON and in a URL', () => {
    const secret = 'ca"na\\ry/+=%&key';
    const redact = createRedactor([secret]);
    for (const text of [secret, JSON.stringify({ secret }), `https://h/?q=${encodeURIComponent(secret)}`]) {
      expect(redact(`before ${text} after`)).toContain('[redacted]');
      expect(redact(text)).not.toContain('na\\ry');
      expect(redact(text)).not.toContain('key');
    }
  });

  test('removes every secret from any text, and nothing else', () => {
    const secrets = fc.array(fc.string({ minLength: 4, maxLength: 12 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(secrets, fc.string(), fc.string(), (values, before, after) => {
        const [first = ''] = values;
        // A secret that is part of its replacement cannot be distinguished from it.
        fc.pre(!values.some((value) => '[redacted]'.includes(value)));
        const result = createRedactor(values)(before + first + after);
        for (const value of values)
          expect(result.split('[redacted]').some((part) => part.includes(value))).toBe(false);
      }),
    );
    expect(createRedactor(['canary'])('nothing to see')).toBe('nothing to see');
  });

  test('replaces the longest of nested secrets', () => {
    expect(createRedactor(['abcd', 'abcdefgh'])('x abcdefgh x')).toBe('x [redacted] x');
  });

  test('ignores a value too short to be a secret', () => {
    expect(createRedactor(['', 'e', 'key'])('the key is here')).toBe('the key is here');
  });

  test('covers the key, the salt and the password of the warehouse, encoded and decoded', () => {
    const env = {
      DAYWALK_API_KEY: 'canary-key',
      DAYWALK_EMAILS: 'hash',
      DAYWALK_EMAIL_SALT: 'canary-salt',
      DAYWALK_WAREHOUSE: 'postgres://etl:canary%2Fpassword@db/analytics',
    };
    const text = 'canary-key canary-salt canary%2Fpassword canary/password';
    const redacted = '[redacted] [redacted] [redacted] [redacted]';
    expect(createRedactor(secretsOf(read({ env }).settings))(text)).toBe(redacted);
    expect(redactorOfEnvironment(env)(text)).toBe(redacted);
  });

  test('covers the addresses of pings and notifications, whole and as a path, before and after the settings are read', () => {
    const env = {
      DAYWALK_PING_URL: 'https://PING.example.com/canary-0123456789/',
      DAYWALK_ALERT_WEBHOOK: 'https://chat.example.com/hooks/T0/canary-webhook',
    };
    const text = [
      env.DAYWALK_PING_URL,
      'https://ping.example.com/canary-0123456789/start',
      'POST /canary-0123456789/4',
      '/hooks/T0/canary-webhook',
    ].join(' ');
    for (const redact of [createRedactor(secretsOf(read({ env }).settings)), redactorOfEnvironment(env)])
      expect(redact(text)).not.toContain('canary');
  });
});
