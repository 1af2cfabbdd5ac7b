import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { allTables } from '../../../schema/tables.ts';
import { MODEL_KEYS, USER_KEYS } from '../../../src/contract/index.ts';
import { type EmailPolicy, Gate } from '../../../src/privacy/gate.ts';
import { KEY_FIELDS } from '../../../src/privacy/passed-texts.ts';
import { normalize } from '../../support/pipeline/normalize.ts';

const KEEP: EmailPolicy = { mode: 'keep' };
const DROP: EmailPolicy = { mode: 'drop' };
const HASH: EmailPolicy = { mode: 'hash', salt: 'pepper' };

function hmac(email: string): string {
  return createHmac('sha256', 'pepper').update(email).digest('hex');
}

/** Addresses as people have them. */
const EMAILS = [
  'ada@example.com',
  'Ada.Lovelace+work@mail.example.co.uk',
  "o'brien_1%x@sub-domain.example.org",
  'jörg@müller.example',
  'иван@пример.рф',
  'x@1.2.example',
];

describe('the email of a person', () => {
  it('is stored as sent, not at all, or as a keyed hash', () => {
    expect(new Gate(KEEP).email('Ada@Example.com ')).toBe('Ada@Example.com ');
    expect(new Gate(DROP).email('ada@example.com')).toBeNull();
    expect(new Gate(HASH).email('ada@example.com')).toBe(hmac('ada@example.com'));
  });

  it('has one hash for every spelling, and another for another person or salt', () => {
    const gate = new Gate(HASH);
    const email = (value: string) => gate.email(value);
    expect(email(' ADA@Example.COM')).toBe(email('ada@example.com'));
    expect(email('ada@example.org')).not.toBe(email('ada@example.com'));
    expect(new Gate({ mode: 'hash', salt: 'salt' }).email('ada@example.com')).not.toBe(
      email('ada@example.com'),
    );
  });

  it.each([KEEP, DROP, HASH])('stays NULL if there is none: %j', (policy) => {
    expect(new Gate(policy).email(null)).toBeNull();
  });
});

describe.each(EMAILS)('the address %s', (email) => {
  const user = { user_id: 'u-1', date: '2026-02-01', user_email: email };
  const token = { date: '2026-02-01', by_user: [{ user_id: 'u-1', user_email: email, billable_tokens: 1 }] };

  /** Every text that a unit would store. */
  function stored(
    stream: 'users' | 'tokens' | 'readiness',
    data: unknown[] | string,
    policy: EmailPolicy,
  ): string {
    const { tables, findings } = normalize(stream, data, policy);
    const { quarantined, drift } = findings;
    return JSON.stringify([tables.map(({ rows }) => rows), quarantined, drift, findings.warnings]);
  }

  const places: readonly [string, 'users' | 'tokens' | 'readiness', unknown[] | string][] = [
    ['its column', 'users', [user]],
    ['its column of another table', 'tokens', [token]],
    ['a quarantined record', 'users', [{ ...user, user_id: '', messages: 'x' }]],
    ['an element that is set aside', 'tokens', [{ ...token, by_user: [{ user_email: email }] }]],
    ['the drift that a wrong type leaves', 'users', [{ ...user, tool_calls: { by: email } }]],
    [
      'a field that nobody knows',
      'users',
      [{ ...user, user_email: null, manager: { mail: `<${email}>`, cc: [email] } }],
    ],
    [
      'the name of a member that nobody knows',
      'users',
      [{ ...user, user_email: null, tokens_of: { [email]: 5 } }],
    ],
    [
      'a text of several lines',
      'users',
      [{ ...user, user_email: null, note: `Contact:\n${email}\n\ttab ${email}` }],
    ],
    ['a text with escapes', 'users', `[{"user_id":"","date":"2026-02-01","note":"${escaped(email)}"}]`],
  ];

  it.each(places)('does not appear in %s when emails are dropped', (_, stream, data) => {
    const kept = stored(stream, data, KEEP);
    expect(kept.includes(email) || kept.includes(JSON.stringify(escaped(email)).slice(1, -1))).toBe(true);
    const text = stored(stream, data, DROP);
    for (const part of [email, escaped(email), ...email.split('@')]) {
      if (part.length > 1) expect(text).not.toContain(part);
    }
  });

  it.each(places)('becomes the same hash in %s when emails are hashed', (_, stream, data) => {
    const text = stored(stream, data, HASH);
    expect(text).toContain(hmac(email.toLowerCase()));
    expect(text).not.toContain(email.split('@')[1]);
  });
});

function escaped(email: string): string {
  return Array.from(email, (char) =>
    /[a-z]/i.test(char) ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  ).join('');
}

describe('an unknown value', () => {
  it('is reported as drift without the email in it', () => {
    const row = { user_id: 'u-1', date: '2026-02-01', delegation_level: 'by ada@example.com!' };
    expect(normalize('users', [row], DROP).findings.drift[0]?.sample).toBe('by [dropped]!');
    expect(normalize('users', [row], HASH).findings.drift[0]?.sample).toBe(`by ${hmac('ada@example.com')}!`);
  });
});

describe('a field of a JSON text', () => {
  const drop = (record: unknown): unknown => JSON.parse(new Gate(DROP).json(JSON.stringify(record)));

  it.each([
    'email',
    'user_email',
    'userEmail',
    'EMAIL',
    'author_e-mail',
    'email_address',
    'ownerEmailAddress',
  ])('counts as an email, whatever it looks like, if it is named %s', (name) => {
    expect(drop({ [name]: 'ada', other: 'ada' })).toEqual({ [name]: '[dropped]', other: 'ada' });
    expect(drop({ [name]: null })).toEqual({ [name]: null });
    expect(drop({ [name]: 1, other: 'ada' })).toEqual({ [name]: 1, other: 'ada' });
  });

  it.each(['voicemail', 'emails_sent', 'mail', 'emailed'])(
    'does not count as an email because it is named %s',
    (name) => {
      expect(drop({ [name]: 'ada' })).toEqual({ [name]: 'ada' });
      expect(drop({ [name]: 'ada@example.com' })).toEqual({ [name]: '[dropped]' });
    },
  );

  it('passes with its name, which may hold an address too', () => {
    expect(drop({ 'ada@example.com email': 'ada' })).toEqual({ '[dropped] email': '[dropped]' });
  });

  it.each([
    String.raw`{"user_em\u0061il":"ada"}`,
    String.raw`{"x":"ada\uFF20example.com"}`,
    String.raw`{"x":"ada\u0026#64;example.com"}`,
    String.raw`{"x":"ada\u002540example.com"}`,
  ])('has the same value, however its characters are escaped: %s', (json) => {
    expect(new Gate(DROP).json(json)).toMatch(/^\{".*":"\[dropped\]"\}$/);
  });

  it('is not hashed if it was dropped before', () => {
    expect(new Gate(HASH).json('{"email":"[dropped]"}')).toBe('{"email":"[dropped]"}');
  });
});

describe('a record without emails', () => {
  it.each([DROP, HASH])('is kept exactly: %j', (policy) => {
    const gate = new Gate(policy);
    for (const text of [
      '{"a": 1e400 , "b":"x\\u0041\\n"}',
      '"@"',
      '"a @ b"',
      '"@scope/package"',
      '[]',
      'null',
    ]) {
      expect(gate.json(text)).toBe(text);
    }
  });

  it.each([DROP, HASH])('and a record with emails stays JSON, with nothing else changed: %j', (policy) => {
    const strings = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.constantFrom(...EMAILS, '\n', '\\', '"', ' ', '@'),
      ),
      {
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(fc.array(strings), (parts) => {
        const texts = parts.map((list) => list.join(' '));
        const gate = new Gate(policy);
        const scrubbed: unknown = JSON.parse(gate.json(JSON.stringify(texts)));
        // Scrubbing a text inside a record is scrubbing that text.
        expect(scrubbed).toEqual(texts.map((text) => JSON.parse(gate.json(JSON.stringify(text)))));
        for (const [index, text] of texts.entries()) {
          if (!text.includes('@')) expect(Reflect.get(scrubbed as object, index)).toBe(text);
        }
      }),
      { numRuns: 40 },
    );
  });

  it.each([DROP, HASH])('takes time proportional to its length: %j', (policy) => {
    const blob = Buffer.alloc(1_000_000, 'abcXYZ019+/').toString();
    const started = performance.now();
    expect(new Gate(policy).json(`{"a":"${blob}","b":"@${blob}"}`)).toBe(`{"a":"${blob}","b":"@${blob}"}`);
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

const PRIVACY = readFileSync(join(import.meta.dirname, '../../../docs/privacy.md'), 'utf8');

/** The forms and examples in a list of the documentation: what it promises is what is tested. */
function examplesUnder(heading: string): (readonly [form: string, example: string])[] {
  const section = PRIVACY.split(`### ${heading}\n`)[1]?.split(/\n#/)[0] ?? '';
  const items = section.split('\n').filter((line) => line.startsWith('- '));
  return items.flatMap((line) => {
    const [, form = '', examples = ''] = /^- (.*?): (.*)$/.exec(line) ?? [];
    return Array.from(examples.matchAll(/`([^`]+)`/g), ([, example = '']) => [form, example] as const);
  });
}

const RECOGNIZED = examplesUnder('Recognized forms');
const UNRECOGNIZED = examplesUnder('Forms that are not recognized');
const LOOK_ALIKES = examplesUnder('Texts that only look like an address');

test('the lists of the documentation have the examples', () => {
  expect([RECOGNIZED, UNRECOGNIZED, LOOK_ALIKES].map(({ length }) => length > 6)).toEqual([true, true, true]);
});

/** What is left of an address in a text, in any form that the list knows. */
const REST = /ada["\\.@%&＠]|@example\.(?:com|net)|example[．%]|YWRh|AZXhhb|m(?:ü|%C3|\\u00fc)|пример/i;

describe.each([DROP, HASH, { ...HASH, users: 'pseudonym' as const }])('under %j', (policy) => {
  const gate = new Gate(policy, { keys: ['k'.repeat(64)] });

  test.each(RECOGNIZED)('an address %s goes: %s', (_, example) => {
    for (const text of [example, `x ${example} y`, `${example}\n`]) {
      for (const after of [
        gate.text(text),
        gate.key(text),
        gate.json(JSON.stringify({ command: text, x: text })),
      ])
        expect(after).not.toMatch(REST);
      expect(Object.keys(JSON.parse(gate.json(JSON.stringify({ [text]: 1 })))).join()).not.toMatch(REST);
    }
  });

  test.each([...LOOK_ALIKES, ...UNRECOGNIZED])('%s stays: %s', (_, example) => {
    for (const text of [example, `run ${example} now`, `"${example}"`]) {
      expect(gate.text(text)).toBe(text);
      expect(gate.key(text)).toBe(text);
      const json = JSON.stringify({ tool: text, note: text, [text]: [text] });
      expect(gate.json(json)).toBe(json);
    }
  });

  test('what came through passes again, and stays', () => {
    for (const [, example] of [...RECOGNIZED, ...LOOK_ALIKES, ...UNRECOGNIZED]) {
      const sent = JSON.stringify({ user_email: example, email: example, tool: example, note: [example] });
      const once = gate.json(sent);
      expect(gate.json(once)).toBe(once);
      expect(gate.text(gate.text(example))).toBe(gate.text(example));
      expect(gate.key(gate.key(example))).toBe(gate.key(example));
      const email = gate.email(example);
      expect(gate.email(email)).toBe(email);
    }
  });
});

describe('under hash', () => {
  test.each(RECOGNIZED.filter(([name]) => !/any|joined/.test(name)))(
    'one person has one hash, also %s: %s',
    (_, example) => {
      expect(new Gate(HASH).text(example)).toContain(hmac('ada@example.com'));
    },
  );
});

describe('a key of a row', () => {
  const gate = new Gate(DROP, { keys: ['k'.repeat(64)] });
  const other = new Gate(DROP, { keys: ['o'.repeat(64)] });

  test('keeps apart from others when addresses are dropped', () => {
    const tools = ['mail-ada@example.com', 'mail-bob@example.com', 'Read'].map((tool) => ({ tool }));
    const after: { tool: string }[] = JSON.parse(gate.json(JSON.stringify(tools)));
    expect(new Set(after.map(({ tool }) => tool)).size).toBe(3);
    expect(after[0]?.tool).toMatch(/^dropped-[0-9a-f]{32}$/);
    expect(JSON.stringify(after)).not.toContain('example.com');
    expect(gate.key('bob@example.com')).toBe(gate.key('Bob@Example.com'));
    expect(other.key('bob@example.com')).not.toBe(gate.key('bob@example.com'));
  });

  test('a text that is no key says only that there was an address', () => {
    expect(gate.json('{"rationale":"by ada@example.com","description":"x"}')).toBe(
      '{"rationale":"by [dropped]","description":"x"}',
    );
  });
});

test('every field of a response that becomes a key of a row is known as one', () => {
  // Keys of maps have no field: they count as keys in any case.
  const others = ['org_id', 'date', 'report_id', 'client', 'app_path', 'criterion_id'];
  const keys = allTables
    .filter(({ stream }) => stream !== null)
    .flatMap(({ key }) => key)
    .filter((name) => !others.includes(name));
  const fields = new Set([...keys, ...MODEL_KEYS, ...USER_KEYS, 'reportId']);
  expect(fields.size).toBeGreaterThan(12);
  expect([...fields].filter((name) => !KEY_FIELDS.has(name))).toEqual([]);
});

test('a place of an answer is kept unless it lies in a list of people and none are kept', () => {
  const none = new Gate(DROP, {}, 'none');
  expect(['[0].by_user[3]', '[0].by_user'].map((path) => none.keepsPlace(path))).toEqual([false, false]);
  expect(['[0].by_user_model', '[0].totals'].map((path) => none.keepsPlace(path))).toEqual([true, true]);
  expect(new Gate(DROP).keepsPlace('[0].by_user[3]')).toBe(true);
});
