import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EmailPolicy, Gate } from '../../../src/privacy/gate.ts';

const DROP: EmailPolicy = { mode: 'drop' };
const HASH: EmailPolicy = { mode: 'hash', salt: 'pepper' };

/** What addresses consist of and stand in, in an order that nobody would write. */
const SHARDS = [
  ...[
    '@',
    '＠',
    '%40',
    '%2540',
    '&#64;',
    String.raw`\u0040`,
    String.raw`\@`,
    '.',
    '．',
    '。',
    '%2E',
    '-',
    '_',
    '"',
    "'",
  ],
  ...[
    'ada',
    'b',
    'io',
    'com',
    'müller',
    'm%C3%BCller',
    '1.2',
    '2x.png',
    'x.service',
    'git',
    'email',
    'user_email',
  ],
  ...[
    'ada@example.com',
    'b@c.io',
    'YWRhQGV4YW1wbGUuY29t',
    'https://',
    'mailto:',
    '/',
    ':',
    '=',
    ' ',
    '\n',
    '\\',
    '[dropped]',
  ],
  ...['40', '%', '&', ',', '<', `erased-${'0'.repeat(32)}`, '7'.repeat(64)],
];
const shards = fc.array(fc.constantFrom(...SHARDS), { maxLength: 12 }).map((parts) => parts.join(''));

describe.each([DROP, HASH])('whatever passes under %j', (policy) => {
  const gate = new Gate(policy, { keys: ['k'.repeat(64)] });

  test('passes again, and stays', () => {
    fc.assert(
      fc.property(shards, (text) => {
        for (const pass of [(t: string) => gate.text(t), (t: string) => gate.key(t)])
          expect(pass(pass(text))).toBe(pass(text));
      }),
      { numRuns: 1500 },
    );
  });

  test('has no password behind an address with a quote', () => {
    const once = gate.text("https://b@c.io'ada@example.commailto:pw@");
    expect(once).not.toContain('pw');
    expect(gate.text(once)).toBe(once);
  });

  test('stays JSON, in which only texts change', () => {
    const names = fc.oneof(shards, fc.constantFrom('email', 'user_email', 'tool', 'meta', 'next_cursor'));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        shards,
        fc.double({ noNaN: true }),
        fc.constantFrom(null, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(names, tie('value')), { maxLength: 3 }).map(Object.fromEntries),
      ),
    }));
    fc.assert(
      fc.property(value, (sent) => {
        const once = gate.answer(JSON.stringify(sent));
        expect(withoutTexts(once)).toBe(withoutTexts(JSON.stringify(sent)));
        expect(gate.answer(once)).toBe(once);
        expect(gate.json(gate.json(once))).toBe(gate.json(once));
      }),
      { numRuns: 600 },
    );
  });
});

/** A JSON text without what its texts say. */
function withoutTexts(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, '""');
}

describe('the cursor of the next page', () => {
  const page = (cursor: string) =>
    `{"data":[{"user_id":"${cursor}","next_cursor":"${cursor}"}],"meta":{"org_id":"o","next_cursor":"${cursor}","x":{"next_cursor":"${cursor}"}}}`;

  test.each([DROP, HASH])('stays as it was received, in this one place: %j', (policy) => {
    const passed: { data: object[]; meta: object } = JSON.parse(
      new Gate(policy).answer(page('ada@example.com')),
    );
    expect(passed.meta).toMatchObject({ next_cursor: 'ada@example.com' });
    expect(JSON.stringify(passed).match(/ada@example.com/g)).toHaveLength(1);
  });

  test.each([DROP, HASH])('is a text as any other in what is no answer: %j', (policy) => {
    const gate = new Gate(policy);
    expect(gate.json(page('ada@example.com'))).not.toContain('ada');
    expect(gate.any(page('ada@example.com'))).not.toContain('ada');
  });

  test('is found once, however many fields have its name', () => {
    const rows = Array.from({ length: 5000 }, () => '{"next_cursor":"ada@example.com"}');
    const started = performance.now();
    expect(new Gate(HASH).answer(`{"data":[${rows}],"meta":{}}`)).not.toContain('ada');
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
