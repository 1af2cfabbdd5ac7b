import { createHmac } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import {
  type EmailPolicy,
  Gate,
  policyFingerprint,
  saltFingerprint,
  storedEmail,
  usersOf,
} from '../../../src/privacy/gate.ts';
import { type KeptOut, pseudonymOf, subjectHmac } from '../../../src/privacy/people-kept-out.ts';
import { columnKind } from '../../../src/privacy/user-ids.ts';

const KEEP: EmailPolicy = { mode: 'keep' };
const DROP: EmailPolicy = { mode: 'drop' };
const HASH: EmailPolicy = { mode: 'hash', salt: 'pepper' };
const KEY = 'k'.repeat(64);
const OLD = parseDay('2026-01-31');
const ORG = 'org_a';
const [ID, ADDRESS] = ['user_01ABCDEFGH', 'ada@example.com'];

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');
const HASHED = hmac('pepper', ADDRESS);
/** What stands for an address in a key of a row, and for a user, under the key. */
const DROPPED_KEY = `dropped-${hmac(KEY, `["dropped","${ADDRESS}"]`).slice(0, 32)}`;
function personOf(id: string): string {
  const own = hmac(KEY, JSON.stringify(['person', id])).slice(0, 24);
  return `person-${own}${hmac(KEY, JSON.stringify(['seal', own])).slice(0, 8)}`;
}

/** A list with these users of an organization. */
function listOf(...ids: readonly string[]): KeptOut {
  const entries = ids.map((id) => ({
    ...{ orgId: ORG, kind: 'user' as const, subjectHmac: subjectHmac(KEY, ORG, 'user', id) },
    ...{ pseudonym: pseudonymOf(KEY, ORG, 'user', id), erasedAt: '2026-11-01T00:00:00.000Z' },
  }));
  return { keys: [KEY], entries };
}
const erased = (id: string) => pseudonymOf(KEY, ORG, 'user', id);

describe('a policy', () => {
  it('has a fingerprint for its mode and salt, which does not show the salt', () => {
    const fingerprints = [KEEP, DROP, HASH, { ...HASH, salt: 'other' } as const].map(policyFingerprint);
    expect(new Set(fingerprints).size).toBe(4);
    expect(policyFingerprint({ ...HASH, users: 'none' })).toBe(policyFingerprint(HASH));
    expect(fingerprints.join()).not.toContain('pepper');
    expect(saltFingerprint('pepper')).toMatch(/^[0-9a-f]{64}$/);
    expect(saltFingerprint('pepper')).not.toBe(saltFingerprint('other'));
  });

  it('stores an address as it is or hashed; one that is dropped is not changed here', () => {
    expect([KEEP, DROP, HASH].map((policy) => storedEmail(policy, ADDRESS))).toEqual([
      ...[ADDRESS, ADDRESS, HASHED],
    ]);
    expect(storedEmail({ ...HASH, users: 'pseudonym' }, ADDRESS)).toBe(HASHED);
  });

  it('keeps IDs of users, and names beside a kept address, unless it says otherwise', () => {
    expect([KEEP, DROP, { ...DROP, users: 'none' } as const].map(usersOf)).toEqual(['keep', 'keep', 'none']);
    expect([KEEP, DROP, HASH].map((policy) => new Gate(policy).keepsNames)).toEqual([true, false, false]);
  });

  it('of pseudonyms needs a key', () => {
    expect(() => new Gate({ ...DROP, users: 'pseudonym' })).toThrow('needs their key');
    expect(() => new Gate({ ...DROP, users: 'none' })).not.toThrow();
  });
});

describe('what stands for a person', () => {
  const gate = () => new Gate({ ...DROP, users: 'pseudonym' }, { keys: [KEY] });

  it('is the same in every version of the program', () => {
    expect(gate().userId('U-17')).toBe(personOf('U-17'));
    expect(gate().userId('U-18')).toBe(personOf('U-18'));
    expect(gate().key('Ada@Example.com')).toBe(DROPPED_KEY);
    expect(new Gate(HASH).key('Ada@Example.com')).toBe(HASHED);
    expect(gate().userId('')).toBe('');
  });

  it.each([erased('user_1'), DROPPED_KEY, '[withheld]', personOf('U-17')])('stays: %s', (standIn) => {
    expect(gate().userId(standIn)).toBe(standIn);
  });

  it('is sealed, so that an ID in its form gets one of its own', () => {
    const forged = `person-${'0'.repeat(32)}`;
    expect(gate().userId(forged)).toBe(personOf(forged));
  });

  it('gives a dropped address a pseudonym where it may become a key, and the word [dropped] elsewhere', () => {
    expect(gate().json(`["${ADDRESS}",{"${ADDRESS}":1,"tool":"${ADDRESS}","note":"${ADDRESS}"}]`)).toBe(
      `["${DROPPED_KEY}",{"${DROPPED_KEY}":1,"tool":"${DROPPED_KEY}","note":"[dropped]"}]`,
    );
  });

  it('stands in lists of users, whatever else they hold', () => {
    expect(gate().json('{"by_user":["x",5,{"id":"U-17","n":"x"}]}')).toBe(
      `{"by_user":["x",5,{"id":"${personOf('U-17')}","n":"x"}]}`,
    );
    expect(gate().json('{"by_user":{"U-17":"x"}}')).toBe(`{"by_user":{"${personOf('U-17')}":"x"}}`);
    expect(gate().json('{"user":true,"user_id":"","x":1}')).toBe('{"user":true,"user_id":"","x":1}');
  });
});

test('under "drop" a dropped address stays one, and under "hash" too', () => {
  expect(new Gate(HASH).email('[dropped]')).toBe('[dropped]');
  expect(new Gate(HASH).json('{"email":"[dropped]","x":"a@b.io"}')).toContain('"email":"[dropped]"');
  expect(new Gate(DROP).json('@ "ada@example.com"')).toBe('@ "[dropped]"');
});

test.each([
  ['https://ada:secret@example.org/x', 'https://ada:[secret]@example.org/x'],
  ['https://:secret@example.org', 'https://:[secret]@example.org'],
  ['https://ghp_0123@github.com/acme', 'https://[secret]@github.com/acme'],
  ['https://ada@github.com/acme', 'https://ada@github.com/acme'],
  ['https://github.com/acme', 'https://github.com/acme'],
  ['ada:secret@example', 'ada:secret@example'],
])('a password or a token in a URL goes with the addresses: %s', (text, expected) => {
  expect(new Gate(DROP).text(text)).toBe(expected);
  expect(new Gate(HASH).key(text)).toBe(expected);
  expect(new Gate(KEEP).text(text)).toBe(text);
});

describe('a day that has expired', () => {
  const gate = (policy: EmailPolicy, users = usersOf(policy)) =>
    new Gate(policy, { keys: [KEY], usersFrom: parseDay('2026-02-01') }, users).on(OLD);

  it('keeps nobody, whatever the policy', () => {
    for (const policy of [KEEP, DROP, HASH, { ...HASH, users: 'none' } as const]) {
      const expired = gate(policy);
      expect(expired.keepsPeople).toBe(false);
      expect([expired.text(ID), expired.key(ID), expired.userId('U-17')]).toEqual([
        ...['[withheld]', '[withheld]', '[withheld]'],
      ]);
    }
    expect(gate(KEEP).text(ADDRESS)).toBe(ADDRESS);
    expect(gate(DROP).key(ADDRESS)).toBe(DROPPED_KEY);
  });

  it('passes what is kept of days that have not', () => {
    const kept = new Gate(DROP, { usersFrom: parseDay('2026-02-01') });
    expect(kept.on('2026-02-01')).toBe(kept);
    expect(new Gate(DROP).on(OLD).keepsPeople).toBe(true);
  });
});

describe('a column', () => {
  const columns = (policy: EmailPolicy) => {
    const gate = new Gate(policy, { keys: [KEY] });
    return (name: string, text: string, isKey = false) => gate.column(name, text, isKey);
  };

  test.each([
    ['user_email', 'email'],
    ['manager_email', 'email'],
    ['user_id', 'id'],
    ['person', 'id'],
    ['tool', 'text'],
  ])('%s holds an %s', (name, kind) => {
    expect(columnKind(name)).toBe(kind);
  });

  it('of addresses holds what the policy stores of one', () => {
    expect(columns(DROP)('user_email', ADDRESS)).toBeNull();
    expect(columns(HASH)('user_email', 'Ada@Example.com')).toBe(HASHED);
    expect(columns(KEEP)('user_email', ADDRESS)).toBe(ADDRESS);
  });

  it('of people holds an address or an ID, and each becomes what the policy says of it', () => {
    const person = columns({ ...HASH, users: 'pseudonym' });
    expect(person('person', ADDRESS)).toBe(HASHED);
    expect(person('person', HASHED)).toBe(HASHED);
    expect(person('person', 'U-17')).toBe(personOf('U-17'));
    expect(person('user_id', HASHED)).toBe(personOf(HASHED));
  });

  it('with another text keeps apart what is part of a key', () => {
    const text = columns({ ...DROP, users: 'pseudonym' });
    expect([text('tool', ADDRESS, true), text('tool', ADDRESS)]).toEqual([DROPPED_KEY, '[dropped]']);
    expect(columns({ ...DROP, users: 'none' })('user_id', 'U-17')).toBe('[withheld]');
  });
});

test('the body of an error passes as JSON if it is JSON, and as a text otherwise', () => {
  expect(new Gate(DROP).any('{"email":"ada"}')).toBe('{"email":"[dropped]"}');
  expect(new Gate(DROP).any('{"email":"ada"')).toBe('{"email":"ada"');
  expect(new Gate(DROP).body('by ada@example.com')).toBe('by [dropped]');
});

describe('who is kept out', () => {
  function gateOf(policy: EmailPolicy, orgId: string | null, list = listOf('user_1', 'admin')): Gate {
    const gate = new Gate(policy, { keys: [KEY] });
    gate.keepOut(list, orgId);
    return gate;
  }

  it('is kept out of every organization as long as none is known, and then of one', () => {
    const gate = gateOf(KEEP, null);
    expect(gate.keptOut).toEqual(listOf('user_1', 'admin'));
    expect(gate.text('by user_1')).toBe(`by ${erased('user_1')}`);
    gate.passFor('org_b');
    expect(gate.text('by user_1')).toBe('by user_1');
    gate.passFor(ORG);
    expect(gate.text('by user_1')).toBe(`by ${erased('user_1')}`);
    expect(gate.userId('admin')).toBe(erased('admin'));
    expect(gate.text('admin')).toBe('admin');
  });

  it.each([
    ['null', 'null'],
    ['{"note":"by user_1"}', `{"note":"by ${erased('user_1')}"}`],
    ['{"meta":{"org_id":5},"note":"by user_1"}', `{"meta":{"org_id":5},"note":"by ${erased('user_1')}"}`],
    ['{"meta":{"org_id":"org_b"},"note":"by user_1"}', '{"meta":{"org_id":"org_b"},"note":"by user_1"}'],
  ])('is kept out of an answer that does not say whose it is: %s', (answer, expected) => {
    expect(gateOf(KEEP, null).answer(answer)).toBe(expected);
  });

  it('is kept out of an answer that names another organization than the one that was asked', () => {
    const answer = '{"meta":{"org_id":"org_b"},"note":"by user_1"}';
    expect(gateOf(KEEP, ORG).answer(answer)).toBe(answer.replace('user_1', erased('user_1')));
  });

  it.each([KEEP, HASH])('stays in the cursor of an answer, which only the service reads: %j', (policy) => {
    const page = '{"data":[{"user_id":"user_1"}],"meta":{"next_cursor":"user_1"}}';
    expect(JSON.parse(gateOf(policy, ORG).answer(page))).toEqual({
      ...{ data: [{ user_id: erased('user_1') }], meta: { next_cursor: 'user_1' } },
    });
    expect(gateOf(policy, ORG).json(page)).not.toContain('"user_1"');
  });

  it.each([
    [KEEP, 'new@example.com'],
    [HASH, hmac('pepper', 'new@example.com')],
  ])('is learned by the address beside the ID, as it is stored, once: %j', (policy, stored) => {
    const gate = gateOf(policy, ORG);
    const record = (address: string) => JSON.stringify({ user_id: 'user_1', email: address });
    gate.json(record('new@example.com'));
    expect(gate.newlyLearned()).toEqual([stored]);
    expect(gate.newlyLearned()).toEqual([]);
    gate.json(record('other@example.com'));
    expect(gate.newlyLearned()).toHaveLength(1);
  });
});
