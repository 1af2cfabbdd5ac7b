// @module-tag campaign/answers

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publicName, publicText } from '../../../src/privacy/public-text.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

const USERS = 'GET /api/v1/analytics/users?startDate=2026-03-01&endDate=2026-03-02&limit=500';

describe('a public text', () => {
  test.each([
    [
      'users 2026-03-01: page 3 names another organization',
      'users 2026-03-01: page 3 names another organization',
    ],
    [
      `${USERS}&cursor=dXNlcl8wMUFCQw answered 422: user alice is unknown (requestId req_0AB12cd)`,
      `${USERS}&… answered 422 (requestId req_0AB12cd)`,
    ],
    [`${USERS} answered 500 {"user":"alice"}`, `${USERS} answered 500`],
    ['GET /x answered 200 with text/alice, not JSON', 'GET /x answered 200, not JSON'],
    ['GET /x answered 500: a (requestId user_01HX7Z4K9Q)', 'GET /x answered 500'],
    [
      'GET /x failed: connect ECONNREFUSED 127.0.0.1:8080',
      'GET /x failed: connect ECONNREFUSED 127.0.0.1:8080',
    ],
    ['unknown field data[].user_01HX7Z4K9Q in tokens', 'unknown field data[]… in tokens'],
    ['user_id is missing in data[3].by_user[0]', 'user_id is missing in data[3].by_user[0]'],
    ['claimed until 2026-03-01T03:00:00.000Z by 4711', 'claimed until 2026-03-01T03:00:00.000Z by 4711'],
    ['an ID like 12345678 or 01890a5d-ac96-774b-bcce-b302099a8057', 'an ID like … or …'],
    ['/users returned user "alice" twice', '/users returned user … twice'],
    ['user "a\\" alice \\"b" twice, "alice', 'user … twice, …'],
    ['answered JSON without a "data" array (requestId alice)', 'answered JSON without a "data" array'],
    [
      'answered JSON without data (requestId req_0AB12cd)',
      'answered JSON without data (requestId req_0AB12cd)',
    ],
    ['moved to https://alice.example.net; not followed', 'moved to https://…; not followed'],
    ['moved to http://localhost.alice.net/x', 'moved to http://…/x'],
    ['serving on http://127.0.0.1:9464', 'serving on http://127.0.0.1:9464'],
    ['user_alice and auth0|x9 and sk-canary-7d1f', '… and … and …'],
    ['a * b ++ c - d | e ~ f', 'a * b ++ c - d | e ~ f'],
    ['xreq_0AB12cd and req_0AB12cd-7x9 and req_0AB12cd', '… and … and req_0AB12cd'],
  ])('of %j is %j', (text, expected) => {
    expect(publicText(text)).toBe(expected);
    expect(publicText(expected)).toBe(expected);
  });

  test('never holds an email address, an ID or a key, however the service writes it', () => {
    const people = [
      { id: 'user_01JQ8Z4K9QH3V5TN2W7XB6M0CD', email: 'alice.b+c@corp.example.com' },
      { id: '01890a5d-ac96-774b-bcce-b302099a8057', email: 'BOB@EXAMPLE.COM' },
    ];
    const writings = people.flatMap(({ id, email }) => [
      ...[id, email, email.toUpperCase(), encodeURIComponent(email)],
      encodeURIComponent(encodeURIComponent(email)),
      email.replace('@', '\\u0040'),
      email.replace('@', '&#64;'),
      Buffer.from(`${email} ${id}`).toString('base64'),
      Buffer.from(id).toString('hex'),
      'sk-canary-7d1f0e9b4c5a48b2',
    ]);
    const around = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(around, fc.constantFrom(...writings), around, (before, secret, after) => {
        for (const text of [
          `pull users 2026-03-01: ${before} ${secret} ${after}`,
          `GET /api/v1/analytics/users?cursor=${secret}&limit=2 answered 500: ${before}${secret}${after} (requestId ${secret})`,
          `GET /api/v1/analytics/${secret} failed: ${before}${secret}`,
          `data[].${secret}.count is not a number`,
        ]) {
          expect(publicText(text)).not.toContain(secret);
          expect(publicText(text)).not.toMatch(/@|%40/);
        }
      }),
      { numRuns: answersMax(2_000, 400) },
    );
  });

  test.each([
    [200, 'ab '.repeat(200)],
    [201, `${'ab '.repeat(200).slice(0, -1)}…`],
  ])('has at most 600 characters: %i words', (count, expected) => {
    expect(publicText('ab '.repeat(count))).toBe(expected);
  });

  test('says nothing of what it does not examine: the middle of a text with more than 20,000 characters', () => {
    const long = 'x'.repeat(20_000);
    expect(publicText(`"${long}" and more`)).toBe('…');
    expect(publicText(`GET /x answered 500: (requestId req_0AB12cd) ${long}`)).toBe('GET /x answered 500');
    expect(publicText(`GET /x answered 500: ${long} (requestId req_0AB12cd)`)).toBe(
      'GET /x answered 500 (requestId req_0AB12cd)',
    );
  });

  test('is short, and examining a long text takes no time', () => {
    const before = performance.now();
    for (const part of ['a', 'a ', '?', ' answered 50', '@', '1-', '"', '"\\', 'http://'])
      expect(publicText(part.repeat(2_000_000)).length).toBeLessThanOrEqual(600);
    expect(performance.now() - before).toBeLessThan(30_000);
  });
});

test('a public name keeps its words and loses email addresses', () => {
  expect(publicName('Team 7, Köln')).toBe('Team 7, Köln');
  expect(publicName('alice@example.com of org_01abc')).toBe('… of org_01abc');
  expect(publicName('ab '.repeat(201))).toBe('ab '.repeat(200));
});
