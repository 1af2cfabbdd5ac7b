import { createHmac } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import {
  candidatesIn,
  isOrdinary,
  type KeptOutKind,
  normalEmail,
  PeopleKeptOut,
  pseudonymOf,
  subjectHmac,
} from '../../../src/privacy/people-kept-out.ts';
import { KEY, listOf, ORG, type Subject } from '../../support/privacy/kept-out-list.ts';

const peopleOf = (...subjects: readonly Subject[]) => new PeopleKeptOut(listOf(...subjects), [ORG]);

const people = () => peopleOf(['user', 'user_1'], ['email', 'ada@example.com']);

/** What stands for a value, made here once more: it is the same in every version. */
function standIn(kind: KeptOutKind, value: string): string {
  const text = JSON.stringify(['pseudonym', ORG, kind, value]);
  return `erased-${createHmac('sha256', KEY).update(text).digest('hex').slice(0, 32)}`;
}
const USER = standIn('user', 'user_1');
const EMAIL = standIn('email', 'ada@example.com');

test('what stands for a person is the same in every version, and for every spelling of an address', () => {
  expect(pseudonymOf(KEY, ORG, 'user', 'User_1')).toBe(standIn('user', 'User_1'));
  expect(pseudonymOf(KEY, ORG, 'email', ' Ada@Example.com ')).toBe(EMAIL);
  expect(normalEmail(' Ada@Example.com\n')).toBe('ada@example.com');
});

test('ordinary words and numbers are no words that are looked up', () => {
  expect(['admin', 'abcde', '123456789', 'x'.repeat(20)].map(isOrdinary)).toEqual([true, true, true, true]);
  expect(['user_1', '1234567890', 'x'.repeat(21)].map(isOrdinary)).toEqual([false, false, false]);
  const words = candidatesIn('admin of "user_1": mail to ada@example.com');
  expect(new Set(words)).toEqual(new Set(['user_1', 'ada@example.com', 'example.com']));
  expect(candidatesIn('')).toEqual([]);
});

describe('an eraser', () => {
  it('knows whom it keeps out, and what stands for them', () => {
    expect(['user_1', 'Ada@example.com', USER, 'user_2'].map((text) => people().isKeptOut(text))).toEqual([
      ...[true, true, true, false],
    ]);
    expect(['user_1', USER, 'ada@example.com', EMAIL].map((text) => people().isUserKeptOut(text))).toEqual([
      ...[true, true, false, false],
    ]);
    expect(peopleOf(['organization', ORG]).isEmpty).toBe(true);
    expect(people().isEmpty).toBe(false);
  });

  it('finds an address that is encoded', () => {
    expect(people().text('?to=ada%40example.com&x=1')).toBe(`?to=${EMAIL}&x=1`);
    expect(people().text('?to=bob%40example.com')).toBe('?to=bob%40example.com');
    const hashed = new PeopleKeptOut(
      {
        keys: [KEY],
        entries: [
          {
            ...{ orgId: ORG, kind: 'email', subjectHmac: subjectHmac(KEY, ORG, 'email', 'stored ada') },
            ...{ pseudonym: 'erased-x', erasedAt: '2026-11-01T00:00:00.000Z' },
          },
        ],
      },
      [ORG],
      (email) => `stored ${email.slice(0, 3)}`,
    );
    expect(hashed.text('?to=ada%40example.com')).toBe('?to=erased-x');
  });

  it('shows what is left of texts to a reader, in places that are named, and no ID', () => {
    const read: [string, string][] = [];
    const eraser = people();
    eraser.text('nobody reads');
    eraser.at('a column');
    eraser.text('nobody reads yet');
    eraser.showTo({ read: (text, place) => read.push([text, place]) });
    eraser.text('by user_1');
    eraser.text('user_2', true);
    eraser.at(null);
    eraser.text('an address');
    expect(read).toEqual([[`by ${USER}`, 'a column']]);
  });
});

describe('a record of an erased person', () => {
  const passed = (record: object, options?: { readonly isOwn: boolean }) => {
    const eraser = people();
    return [JSON.parse(eraser.json(JSON.stringify(record), options)), eraser.learned];
  };

  it('is known by the ID, or by what stands for it', () => {
    const record = { email: 'new@x.org', mail: 'n@x.org', name: 'Ada' };
    for (const id of ['user_1', USER])
      expect(passed({ user_id: id, ...record })).toEqual([
        {
          user_id: USER,
          email: standIn('email', 'new@x.org'),
          mail: standIn('email', 'n@x.org'),
          name: 'Ada',
        },
        ['new@x.org'],
      ]);
  });

  it.each(['', '[dropped]', EMAIL])('keeps what is no address in its field: "%s"', (email) => {
    expect(passed({ user_id: 'user_1', email })).toEqual([{ user_id: USER, email }, []]);
  });

  it('teaches no address that is known', () => {
    expect(passed({ user_id: 'user_1', email: 'ada@example.com' })).toEqual([
      { user_id: USER, email: EMAIL },
      [],
    ]);
  });

  it('has the pseudonym in a name that is the ID', () => {
    expect(passed({ user_id: 'user_1', username: 'user_1', login: 'ada' })).toEqual([
      { user_id: USER, username: USER, login: '[erased]' },
      [],
    ]);
  });

  it('may fill the whole text: then its outermost address is learned as theirs', () => {
    const record = { email: 'new@x.org', in: { email: 'in@x.org', nickname: 'Ada' } };
    expect(passed(record, { isOwn: true })).toEqual([
      {
        email: standIn('email', 'new@x.org'),
        in: { email: standIn('email', 'in@x.org'), nickname: '[erased]' },
      },
      ['new@x.org'],
    ]);
    expect(passed(record)).toEqual([record, []]);
  });

  it('is none of an answer, unless it is said to be one, so its cursor goes', () => {
    const page = '{"meta":{"next_cursor":"user_1"}}';
    expect(people().json(page)).toBe(page.replace('user_1', USER));
    expect(people().json(page, { isOwn: false, isAnswer: true })).toBe(page);
  });

  it('has an address in a column of its own, which is learned if it is new', () => {
    const eraser = people();
    expect(eraser.ownEmail('Ada@example.com', true)).toBe(EMAIL);
    expect(eraser.learned).toEqual([]);
    expect(eraser.ownEmail('new@x.org', true)).toBe(standIn('email', 'new@x.org'));
    expect(eraser.learned).toEqual(['new@x.org']);
    expect(peopleOf().ownEmail('new@x.org', true)).toBe('new@x.org');
  });

  it('keeps every other text as it is written', () => {
    const json = String.raw`{"user_id":"user_1","x":"\u0041"}`;
    expect(people().json(json)).toBe(json.replace('user_1', USER));
  });
});
