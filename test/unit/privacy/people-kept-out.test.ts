import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EmailPolicy, Gate } from '../../../src/privacy/gate.ts';
import { type KeptOut, PeopleKeptOut, pseudonymOf } from '../../../src/privacy/people-kept-out.ts';
import { KEY, listOf, ORG } from '../../support/privacy/kept-out-list.ts';

const LIST = listOf(
  ['user', 'user_1'],
  ['email', 'ada@example.com'],
  ['user', 'auth0|12'],
  ['user', 'ada.lovelace'],
);

function gateOf(policy: EmailPolicy, list: KeptOut): Gate {
  const gate = new Gate(policy);
  gate.keepOut(list, ORG);
  return gate;
}

const people = () => new PeopleKeptOut(LIST, [ORG]);
const USER = pseudonymOf(KEY, ORG, 'user', 'user_1');
const ODD = pseudonymOf(KEY, ORG, 'user', 'auth0|12');
const DOTTED = pseudonymOf(KEY, ORG, 'user', 'ada.lovelace');
const EMAIL = pseudonymOf(KEY, ORG, 'email', 'ada@example.com');

describe('erased people in a text', () => {
  test.each([
    ['user_1', USER],
    ['Ada@Example.COM', EMAIL],
    ['see user_1.', `see ${USER}.`],
    ['(user_1), "user_1"', `(${USER}), "${USER}"`],
    ['mail <ada@example.com>!', `mail <${EMAIL}>!`],
    ['/home/user_1/x', `/home/${USER}/x`],
    ['user_1@build-host:~$', `${USER}@build-host:~$`],
    ['\u001b[31muser_1\u001b[0m', `\u001b[31m${USER}\u001b[0m`],
    ['\\u001b[1;31mada@example.com\\u001b[0m', `\\u001b[1;31m${EMAIL}\\u001b[0m`],
    ['\u0007user_1\u0000', `\u0007${USER}\u0000`],
    ['/home/ada@example.com/x', `/home/${EMAIL}/x`],
    ['C:\\Users\\user_1\\x', `C:\\Users\\${USER}\\x`],
    ['/tmp/ada@example.com.json', `/tmp/${EMAIL}.json`],
    ['/home/auth0|12/x', `/home/${ODD}/x`],
    ['https://x.org/?user=auth0|12&tab=1', `https://x.org/?user=${ODD}&tab=1`],
    ["'auth0|12'", `'${ODD}'`],
    ['ada.lovelace@host', `${DOTTED}@host`],
    ['联系user_1请回复', `联系${USER}请回复`],
    ['ผู้ใช้user_1ครับ ada.lovelace님', `ผู้ใช้${USER}ครับ ${DOTTED}님`],
    ['ユーザーuser_1さん', `ユーザー${USER}さん`],
    ['メンバーada@example.comへ', `メンバー${EMAIL}へ`],
    ['👩user_1👋', `👩${USER}👋`],
    ['user_12 and xuser_1, ñuser_1', 'user_12 and xuser_1, ñuser_1'],
    ['USER_1', 'USER_1'],
    ['', ''],
  ])('%s', (text, expected) => {
    expect(people().text(text)).toBe(expected);
    expect(people().text(expected)).toBe(expected);
  });

  test('are those of their own organization', () => {
    expect(new PeopleKeptOut(LIST, ['org_b']).text('user_1')).toBe('user_1');
    expect(new PeopleKeptOut({ ...LIST, keys: ['b'.repeat(64)] }, [ORG]).text('user_1')).toBe('user_1');
  });
});

describe('erased people in JSON', () => {
  test('all other characters stay, in any form', () => {
    const json =
      ' { "user_id" : "user_1",\n "n": 1.0, "big":12345678901234567890, "x":["user_1",{"y":"user_2"}] } ';
    expect(people().json(json)).toBe(json.replaceAll('"user_1"', `"${USER}"`));
    expect(people().json('{"a":"\\u0075ser_1"}')).toBe(`{"a":"${USER}"}`);
  });

  test('an object with the ID loses its addresses and names, those of others stay', () => {
    const found = people();
    const json = JSON.stringify({
      people: [
        {
          user_id: 'user_1',
          email: 'new@example.com',
          display_name: 'Ada',
          manager_email: 'boss@example.com',
          in: { email: 'in@x.org' },
        },
        { user_id: 'user_2', email: 'bob@example.com', display_name: 'Bob' },
      ],
    });
    const [ada, bob] = JSON.parse(found.json(json)).people;
    expect(ada).toEqual({
      user_id: USER,
      email: pseudonymOf(KEY, ORG, 'email', 'new@example.com'),
      display_name: '[erased]',
      manager_email: 'boss@example.com',
      in: { email: pseudonymOf(KEY, ORG, 'email', 'in@x.org') },
    });
    expect(bob).toEqual({ user_id: 'user_2', email: 'bob@example.com', display_name: 'Bob' });
    // Only an address beside the ID is surely that of the person.
    expect(found.learned).toEqual(['new@example.com']);
  });

  test('a field after null or a number keeps its name', () => {
    const record = {
      user_id: 'user_1',
      user_email: null,
      date: '2026-01-19',
      display_name: null,
      tool_calls: 5,
    };
    const nested = { ...record, mail: 1, credits: 7, emails: [null], of: { email: false, kind: 'a' } };
    expect(JSON.parse(people().json(JSON.stringify(nested)))).toEqual({ ...nested, user_id: USER });
  });

  test('an address or a name of theirs with the ID in it is replaced as a whole', () => {
    const json = JSON.stringify({ user_id: 'user_1', email: 'user_1@x.org', full_name: 'Ada (user_1)' });
    const once = people().json(json);
    expect(JSON.parse(once)).toEqual({
      user_id: USER,
      email: pseudonymOf(KEY, ORG, 'email', 'user_1@x.org'),
      full_name: '[erased]',
    });
    expect(people().json(once)).toBe(once);
  });

  test('no text of any document names them, and erasing twice changes nothing more', () => {
    const texts = fc.oneof(
      fc.constantFrom('user_1', 'ada@example.com', 'ADA@example.com', 'by user_1: ok', 'x', 'ada', 'user_2'),
      fc.string(),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        texts,
        fc.double({ noNaN: true }),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(
          fc.oneof(texts, fc.constantFrom('user_id', 'email', 'name', 'username')),
          tie('value'),
          {
            maxKeys: 4,
          },
        ),
      ),
    }));
    fc.assert(
      fc.property(value, fc.nat(3), (document, indent) => {
        const after = people().json(JSON.stringify(document, null, indent));
        expect(() => JSON.parse(after)).not.toThrow();
        expect(after.toLowerCase()).not.toMatch(/\buser_1\b|ada@example\.com/);
        expect(people().json(after)).toBe(after);
      }),
      { numRuns: 1_000 },
    );
  });

  test('an ID that could be a word is replaced where IDs of users stand, and nowhere else', () => {
    const list = listOf(['user', 'admin'], ['user', '42']);
    const found = new PeopleKeptOut(list, [ORG]);
    const [admin, number] = [pseudonymOf(KEY, ORG, 'user', 'admin'), pseudonymOf(KEY, ORG, 'user', '42')];
    expect(found.text('admin')).toBe('admin');
    expect(found.text('the admin of 42')).toBe('the admin of 42');
    expect(found.text('admin', true)).toBe(admin);
    expect(found.json('{"tool":"admin","user_id":"admin","n":"42","user":"42"}')).toBe(
      `{"tool":"admin","user_id":"${admin}","n":"42","user":"${number}"}`,
    );
  });

  test('someone whose manager was erased keeps the own address and name', () => {
    const found = people();
    const json = '{"user_id":"user_2","manager_id":"user_1","email":"bob@example.com","display_name":"Bob"}';
    expect(found.json(json)).toBe(json.replace('user_1', USER));
    expect(found.learned).toEqual([]);
  });

  test('at any depth', () => {
    const depth = 200_000;
    const json = `${'['.repeat(depth)}"user_1"${']'.repeat(depth)}`;
    expect(people().json(json)).toBe(json.replace('user_1', USER));
  });
});

describe('an email policy without erased people', () => {
  const salted = { mode: 'hash', salt: 'a long enough salt' } as const;
  const hash = String(new Gate(salted).email('ada@example.com'));

  test.each([
    ['keep', { mode: 'keep' }, LIST, EMAIL],
    ['hash, listed as it is stored', salted, listOf(['email', hash]), pseudonymOf(KEY, ORG, 'email', hash)],
    ['hash, listed as it was received', salted, LIST, EMAIL],
    ['drop', { mode: 'drop' }, LIST, null],
  ] as const)('%s', (_, policy, list, expected) => {
    const gate = gateOf(policy, list);
    expect(gate.email('Ada@example.com')).toBe(expected);
    expect(gate.email(expected)).toBe(expected);
    expect(gate.email(null)).toBeNull();
    const json = gate.json('{"user_email":"ada@example.com","t":"hi ada@example.com!"}');
    expect(json).not.toContain('ada@');
    expect(json).not.toContain(hash);
    expect(gate.json(json)).toBe(json);
    expect(gate.email('bob@example.com')).toBe(new Gate(policy).email('bob@example.com'));
  });

  test('is the policy itself while nobody was erased', () => {
    const gate = gateOf(salted, { keys: [], entries: [] });
    expect(gate.json('{"a":"user_1"}')).toBe('{"a":"user_1"}');
    expect(gate.email('ada@example.com')).toBe(hash);
  });
});

describe('a gate that does not know the organization yet', () => {
  const gate = new Gate({ mode: 'keep' });
  gate.keepOut(LIST, null);
  const text = (orgId: string) => JSON.stringify({ meta: { org_id: orgId }, note: 'see user_1.' });

  test('believes an answer of the service, which says whose it is', () => {
    expect(gate.answer(text(ORG))).toContain(USER);
    expect(gate.answer(text('org_b'))).toBe(text('org_b'));
  });

  test('believes no hook event and no error, whatever organization it names', () => {
    expect(gate.json(text('org_b'))).toBe(text('org_b').replace('user_1', USER));
    expect(gate.any(text('org_b'))).toBe(text('org_b').replace('user_1', USER));
  });
});
