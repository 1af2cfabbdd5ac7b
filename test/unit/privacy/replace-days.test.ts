import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { Gate } from '../../../src/privacy/gate.ts';

const KEPT = parseDay('2026-02-01');
const gate = new Gate({ mode: 'keep' }, { usersFrom: KEPT });
const row = (date: string, more = '') =>
  `{"date":"${date}","billable_tokens":1.50,"by_user":[{"user_id":"user_01abc","date":"${date}"}]${more}}`;
const bare = (date: string, more = '') => `{"date":"${date}","billable_tokens":1.50,"by_user":[]${more}}`;

test('an answer loses the people of days that have expired, and every other character stays', () => {
  const answer = (...rows: string[]) =>
    `{ "data": [${rows.join(' , ')}], "meta": {"org_id":"o","date":"x"} }`;
  expect(gate.answer(answer(row('2026-01-31'), row('2026-02-01'), row('2026-01-14')))).toBe(
    answer(bare('2026-01-31'), row('2026-02-01'), bare('2026-01-14')),
  );
  const kept = answer(row('2026-02-01'), row('2026-03-01'));
  expect(gate.answer(kept)).toBe(kept);
});

test('what passed once passes again unchanged, also under another policy of addresses', () => {
  const text = `[${row('2026-01-20', ',"extra":{"about":"user_01abc did {\\"date\\":\\"2026-03-01\\"}"}')}]`;
  const once = gate.json(text);
  expect(once).not.toContain('user_01abc');
  expect(gate.json(once)).toBe(once);
  const dropping = new Gate({ mode: 'drop' }, { usersFrom: KEPT });
  expect(dropping.json(dropping.json(text))).toBe(dropping.json(text));
});

test.each([
  [
    'braces and quotes in texts',
    row('2026-01-20', ',"extra":"}{\\"]\\\\"'),
    bare('2026-01-20', ',"extra":"}{\\"]\\\\"'),
  ],
  ['a date in a text only', '{"name":"\\"date\\":\\"2026-01-20\\"","by_user":[1]}', null],
  ['an escaped name', row('2026-01-20').replace('"date"', '"\\u0064ate"'), bare('2026-01-20')],
  ['space around the colon', row('2026-01-20').replace('"date":', '"date" :\n'), null],
  ['a text that is cut off', '{"date":"2026-01-20","by_user":[{"user_id":"user_01abc"', null],
])('the day of an object is found with %s', (what, text, wanted) => {
  const passed = gate.json(text);
  if (wanted !== null) expect(passed).toBe(wanted);
  else if (what === 'space around the colon') expect(passed).toContain('"by_user":[]');
  else expect(passed).toBe(text);
});

test('a day passes as under "none" once it has expired, and a row without a day never does', () => {
  expect(gate.on('2026-01-31').keepsPeople).toBe(false);
  for (const day of ['2026-02-01', '', null, 'soon']) expect(gate.on(day)).toBe(gate);
  expect(gate.keepsUsersOf(KEPT)).toBe(true);
  expect(new Gate({ mode: 'drop', users: 'none' }, { usersFrom: KEPT }).keepsUsersOf(KEPT)).toBe(false);
  expect(new Gate({ mode: 'keep' }).keepsUsersOf(parseDay('2026-01-14'))).toBe(true);
});
