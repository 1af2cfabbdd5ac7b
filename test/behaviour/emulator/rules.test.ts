import { describe, expect, test } from 'vitest';
import { READINESS_PATH } from '../../../src/contract/paths.ts';
import { parseDay } from '../../../src/core/day.ts';
import { type Match, parseRules, type Rule, type When } from '../../../src/emulator/faults/rules.ts';
import { type Probe, pathOf, probe } from '../../support/emulator/probe.ts';

const TEAPOT = { type: 'status', status: 418 } as const;
const DAY = '2026-02-03';

async function statuses(at: Probe, path: string, times: number): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < times; i++) seen.push((await at.get(path)).status);
  return seen;
}

describe('match', () => {
  const paths = {
    users: pathOf('users', DAY),
    usersLimited: pathOf('users', DAY, 'limit=7'),
    tokens: pathOf('tokens', '2026-02-01..2026-02-05'),
    readiness: READINESS_PATH,
    elsewhere: '/elsewhere',
  };
  const cases: [string, Match, (keyof typeof paths)[]][] = [
    ['nothing', {}, ['users', 'usersLimited', 'tokens', 'readiness', 'elsewhere']],
    ['a path', { path: '/api/v1/analytics/users' }, ['users', 'usersLimited']],
    ['a glob within one segment', { path: '/api/v1/analytics/*' }, ['users', 'usersLimited', 'tokens']],
    ['a glob that stays within its segment', { path: '/*' }, ['elsewhere']],
    ['a glob over segments', { path: '/api/**' }, ['users', 'usersLimited', 'tokens', 'readiness']],
    ['a dot as a dot', { path: '/api/v1.analytics/users' }, []],
    ['a stream', { stream: 'readiness' }, ['readiness']],
    ['a day within the range', { day: parseDay(DAY) }, ['users', 'usersLimited', 'tokens']],
    ['a day outside', { day: parseDay('2026-02-06') }, []],
    ['a parameter', { query: { limit: '7' } }, ['usersLimited']],
    ['an absent parameter', { stream: 'users', query: { limit: null } }, ['users']],
    ['a method', { method: 'POST' }, []],
    [
      'all at once',
      { stream: 'users', day: parseDay(DAY), method: 'GET', query: { limit: '7' } },
      ['usersLimited'],
    ],
  ];

  test.each(cases)('%s', async (_, match, expected) => {
    const at = await probe({ users: 20, reports: 5, rules: [{ match, action: TEAPOT }] });
    const hit: string[] = [];
    for (const [name, path] of Object.entries(paths)) if ((await at.get(path)).status === 418) hit.push(name);
    expect(hit).toEqual(expected);
    expect(at.emulator.journal().rules[0]?.firings).toBe(expected.length);
  });

  test('a page of a walk of users and of reports', async () => {
    const at = await probe({ reports: 10, rules: [{ id: 'third', match: { page: 3 }, action: TEAPOT }] });
    await expect(at.walk('2026-03-10', 'limit=10')).rejects.toThrow('418');
    expect(at.emulator.journal().requests).toBe(3);
    await expect(at.reports('limit=4')).rejects.toThrow('418');
    expect(at.emulator.journal()).toMatchObject({ requests: 6, rules: [{ id: 'third', firings: 2 }] });
    expect((await at.get('/elsewhere')).status).toBe(404);
    expect((await at.get(pathOf('users', DAY, 'limit=0'))).status).toBe(400);
  });

  test('a role', async () => {
    const at = await probe({ rules: [{ match: { role: 'member' }, action: TEAPOT }] });
    const { member, manager } = at.emulator.keys;
    const status = async (key: string | null) => (await at.get(pathOf('users', DAY), { key })).status;
    expect([await status(member), await status(manager), await status(null)]).toEqual([418, 200, 401]);
    at.emulator.setRules([{ match: { role: 'none' }, action: TEAPOT }]);
    expect([await status(member), await status(null)]).toEqual([403, 418]);
  });
});

describe('when', () => {
  const cases: [When, string][] = [
    [{}, 'xxxxxxxx'],
    [{ nth: 3 }, '..x.....'],
    [{ nth: [1, 4, 5] }, 'x..xx...'],
    [{ count: 2 }, 'xx......'],
    [{ after: 5 }, '.....xxx'],
    [{ after: 2, count: 3 }, '..xxx...'],
    [{ count: 0 }, '........'],
    [{ probability: 0 }, '........'],
    [{ probability: 1, after: 6 }, '......xx'],
  ];

  test.each(cases)('%j', async (when, pattern) => {
    const at = await probe({ users: 20, rules: [{ when, action: TEAPOT }] });
    const seen = await statuses(at, pathOf('activity', DAY), 8);
    expect(seen.map((status) => (status === 418 ? 'x' : '.')).join('')).toBe(pattern);
    expect(at.emulator.journal().rules).toEqual([
      { id: 'rule-1', matches: 8, firings: pattern.split('x').length - 1, missed: 0 },
    ]);
  });

  test('per request: each URL is counted separately', async () => {
    const at = await probe({ users: 20, rules: [{ when: { count: 1, per: 'request' }, action: TEAPOT }] });
    for (const stream of ['tokens', 'tools', 'activity'] as const) {
      expect(await statuses(at, pathOf(stream, DAY), 3)).toEqual([418, 200, 200]);
    }
  });

  test('a probability is decided by seed and request, not by the order of requests', {
    tags: 'ci/rare',
  }, async () => {
    const rules = (seed: number): Rule[] => [
      { id: 'some', when: { probability: 0.3, seed }, action: TEAPOT },
    ];
    const days = Array.from(
      { length: 60 },
      (_, index) => `2026-0${2 + Math.floor(index / 28)}-${String(1 + (index % 28)).padStart(2, '0')}`,
    );
    const hits = async (seed: number, order: readonly string[]) => {
      const at = await probe({ users: 5, rules: rules(seed) });
      const answers = await Promise.all(
        order.map(async (day) => [day, (await at.get(pathOf('activity', day))).status]),
      );
      return new Set(answers.filter(([, status]) => status === 418).map(([day]) => day));
    };
    const serial = await hits(1, days);
    expect(await hits(1, days.toReversed())).toEqual(serial);
    expect(await hits(2, days)).not.toEqual(serial);
    expect(serial.size).toBeGreaterThan(8);
    expect(serial.size).toBeLessThan(30);
  });

  test('a repeated request is drawn again, so that a retry can succeed', async () => {
    const at = await probe({ users: 5, rules: [{ when: { probability: 0.5, seed: 3 }, action: TEAPOT }] });
    const seen = await statuses(at, pathOf('activity', DAY), 30);
    expect(new Set(seen)).toEqual(new Set([200, 418]));
  });
});

test('the first rule that is due fires; a rule that does not fire still counts its match', async () => {
  const at = await probe({
    rules: [
      { id: 'first', when: { nth: 2 }, action: { type: 'status', status: 501 } },
      { id: 'second', action: { type: 'status', status: 502 } },
      { id: 'third', action: { type: 'status', status: 503 } },
    ],
  });
  expect(await statuses(at, '/x', 3)).toEqual([502, 501, 502]);
  expect(at.emulator.journal().rules).toEqual([
    { id: 'first', matches: 3, firings: 1, missed: 0 },
    { id: 'second', matches: 2, firings: 2, missed: 0 },
    { id: 'third', matches: 0, firings: 0, missed: 0 },
  ]);
});

test('a key can be revoked after some requests', async () => {
  const at = await probe({
    rules: [{ id: 'revoked', when: { after: 4 }, action: { type: 'status', status: 401 } }],
  });
  expect(await statuses(at, pathOf('tokens', DAY), 6)).toEqual([200, 200, 200, 200, 401, 401]);
});

test('setRules resets the counters, resetJournal does not', async () => {
  const rules: Rule[] = [{ id: 'once', when: { count: 1 }, action: TEAPOT }];
  const at = await probe({ rules });
  expect(await statuses(at, '/x', 2)).toEqual([418, 404]);
  at.emulator.resetJournal();
  expect(await statuses(at, '/x', 1)).toEqual([404]);
  expect(at.emulator.journal().rules).toEqual([{ id: 'once', matches: 1, firings: 0, missed: 0 }]);
  at.emulator.setRules(rules);
  expect(await statuses(at, '/x', 2)).toEqual([418, 404]);
});

describe('rules from JSON', () => {
  test('a list, or an object with rules, is returned unchanged', () => {
    const rules = [
      { id: 'a', match: { stream: 'users', page: 2 }, when: { nth: [1, 2] }, action: TEAPOT },
      { action: [{ type: 'delay', ms: 5 }, { type: 'hang' }] },
      { action: { type: 'patch', operations: [{ op: 'raw', path: '/data/0/x', text: '1e400' }] } },
    ];
    expect(parseRules(rules)).toEqual(rules);
    expect(parseRules({ rules })).toEqual(rules);
    expect(parseRules([])).toEqual([]);
  });

  const bad: [string, unknown, string][] = [
    ['no list', { match: {} }, 'rules'],
    ['a null', null, 'rules'],
    ['no action', [{ id: 'a' }], 'rules[0].action'],
    ['an unknown action', [{ action: { type: 'explode' } }], 'rules[0].action.type'],
    ['a field of another action', [{ action: { type: 'hang', ms: 3 } }], 'rules[0].action.ms'],
    ['a status out of range', [{ action: { type: 'status', status: 700 } }], 'rules[0].action.status'],
    ['a status that is text', [{ action: { type: 'status', status: '500' } }], 'rules[0].action.status'],
    ['a missing field', [{ action: { type: 'cut' } }], 'rules[0].action.bytes'],
    ['a bad second action', [{ action: [TEAPOT, { type: 'delay', ms: -1 }] }], 'rules[0].action[1].ms'],
    ['an unknown field', [{ action: TEAPOT, whem: {} }], 'rules[0].whem'],
    ['an unknown match', [{ action: TEAPOT, match: { url: '/' } }], 'rules[0].match.url'],
    ['an unknown stream', [{ action: TEAPOT, match: { stream: 'user' } }], 'rules[0].match.stream'],
    ['a day that does not exist', [{ action: TEAPOT, match: { day: '2026-02-30' } }], 'rules[0].match.day'],
    ['page 0', [{ action: TEAPOT }, { action: TEAPOT, match: { page: 0 } }], 'rules[1].match.page'],
    ['a probability of 2', [{ action: TEAPOT, when: { probability: 2 } }], 'rules[0].when.probability'],
    ['nth 0', [{ action: TEAPOT, when: { nth: [1, 0] } }], 'rules[0].when.nth'],
    [
      'a path that is not a JSON pointer',
      [patchOf({ op: 'remove', path: 'data' })],
      'rules[0].action.operations[0].path',
    ],
    ['an unknown operation', [patchOf({ op: 'move', path: '/a' })], 'rules[0].action.operations[0].op'],
    [
      'raw text that is not JSON',
      [patchOf({ op: 'raw', path: '/a', text: '{' })],
      'rules[0].action.operations[0].text',
    ],
    ['set without a value', [patchOf({ op: 'set', path: '/a' })], 'rules[0].action.operations[0].value'],
    ['a body of two kinds', [{ action: { type: 'body', text: '', html: true } }], 'rules[0].action'],
    ['a body of no kind', [{ action: { type: 'body' } }], 'rules[0].action'],
    [
      'a header that cannot be',
      [{ action: { type: 'headers', set: { 'a b': 'x' } } }],
      'rules[0].action.set.a b',
    ],
    [
      'two rules of one name',
      [
        { id: 'a', action: TEAPOT },
        { id: 'a', action: TEAPOT },
      ],
      'rules',
    ],
    [
      'a bad revision',
      [{ action: { type: 'revise', revision: { kind: 'x' } } }],
      'rules[0].action.revision.kind',
    ],
  ];

  test.each(bad)('%s is refused with its place and a remedy', (_, json, place) => {
    expect(() => parseRules(json)).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        exitCode: 2,
        message: expect.stringContaining(`${place}:`),
        hint: expect.stringMatching(/\w/),
      }),
    );
  });

  test('invalid rules are also refused at the start and at run time, and the old ones stay', async () => {
    const at = await probe({ rules: [{ action: TEAPOT }] });
    const wrong = parseRulesUnchecked([{ action: { type: 'explode' } }]);
    expect(() => at.emulator.setRules(wrong)).toThrow('rules[0].action.type');
    expect(await statuses(at, '/x', 1)).toEqual([418]);
    await expect(probe({ rules: wrong })).rejects.toThrow('rules[0].action.type');
  });
});

function patchOf(operation: object): object {
  return { action: { type: 'patch', operations: [operation] } };
}

/** An argument that only a JavaScript caller without types could pass. */
function parseRulesUnchecked(rules: object[]): Rule[] {
  return JSON.parse(JSON.stringify(rules));
}
