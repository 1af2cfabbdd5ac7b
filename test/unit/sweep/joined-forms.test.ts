import { expect, test } from 'vitest';
import { JoinedForms } from '../../../src/sweep/joined.ts';

const user = { kind: 'user', value: 'user_0123', pseudonym: 'erased-u' } as const;
const email = { kind: 'email', value: 'ada@example.com', pseudonym: 'erased-e' } as const;

function wordsIn(text: string, others: readonly string[] = []): readonly string[] {
  const forms = new JoinedForms([user, email], others);
  forms.read(text, 'place');
  expect(forms.found.length > 0).toBe(forms.words.length > 0);
  return forms.words;
}

test.each([
  ['cat /srv/home-user_0123/x', 'home-user_0123'],
  ['/srv/user_0123-2', 'user_0123-2'],
  ['see USER_0123', 'user_0123'],
  ['to=mcp-ada@example.com', 'mcp-ada@example.com'],
  ['x/mcp-ada%40example.com', 'mcp-ada%40example.com'],
  ['x/mcp-ada%2540example.com/y', 'mcp-ada%2540example.com'],
  [`key ${btoa('12:user_0123:x')}`, btoa('12:user_0123:x').toLowerCase().replace(/=+$/, '')],
  [
    `${btoa('x')}/${btoa('to ada@example.com now')}`,
    btoa('to ada@example.com now').toLowerCase().replace(/=+$/, ''),
  ],
])('in %s, the word %s is found', (text, word) => {
  expect(wordsIn(text)).toEqual([word]);
});

test.each([
  'user_01234',
  'xuser_0123',
  'bada@example.com',
  'ada@example.community',
  `key ${btoa('12:user_01234:x')}`,
  'ada at example.com',
  '100 % of /srv/%zz',
])('%s is somebody else, or nobody', (text) => {
  expect(wordsIn(text)).toEqual([]);
});

test('the ID of somebody else stays, also where it holds that of the person', () => {
  expect(wordsIn('ask home-user_0123-2', ['user_0123-2'])).toEqual([]);
  expect(wordsIn('ask home-user_0123-2')).toEqual(['home-user_0123-2']);
});

test('an ID that could be an ordinary word is not searched', () => {
  const forms = new JoinedForms([{ ...user, value: 'admin' }], []);
  forms.read('home-admin', 'place');
  expect(forms.found).toEqual([]);
});
