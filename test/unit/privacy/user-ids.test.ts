import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Gate } from '../../../src/privacy/gate.ts';

const keys = ['k'.repeat(64)];
const salt = 'a long enough salt for the tests';
const pseudonym = new Gate({ mode: 'hash', salt, users: 'pseudonym' }, { keys });
const dropping = new Gate({ mode: 'drop', users: 'pseudonym' }, { keys });
const none = new Gate({ mode: 'hash', salt, users: 'none' });
const PSEUDONYM = /^(?:person|dropped)-[0-9a-f]{32}$/;

/** IDs of other services, and of attackers. */
const IDS = [
  ...['U-17', '17', 'ada', 'ada@example.com', 'user_ada', 'user_01ABCDEFGH', 'x'.repeat(300)],
  ...['Ünïcode-Ω', 'a "quoted" \\ one', 'null', `person-${'a'.repeat(32)}`, ' U-17', 'U/17', 'U-17\n'],
];

/** Ways in which a service can write a field. */
const FIELDS: readonly ((name: string, id: string) => string)[] = [
  (name, id) => `{"${name}":${JSON.stringify(id)}}`,
  (name, id) => `{"${name}" :\n ${JSON.stringify(id)}}`,
  (name, id) => `{"x":{"list":[{"${name}":${JSON.stringify(id)},"y":1}]}}`,
  (name, id) => `{"${name.replace('s', String.raw`\u0073`)}":${JSON.stringify(id)}}`,
  (name, id) => `{"${name}":${escaped(id)}}`,
];

/** JSON in which every character is an escape. */
function escaped(text: string): string {
  return `"${[...text].map((c) => (c.length > 1 ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)).join('')}"`;
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe.each([
  ['hash', pseudonym],
  ['drop', dropping],
])('a gate of pseudonyms under %s', (_, gate) => {
  test.each(IDS)('replaces the ID %j in every field of IDs, by one pseudonym', (id) => {
    const standIn = gate.userId(id);
    expect(standIn).toMatch(PSEUDONYM);
    expect(standIn).not.toBe(id);
    expect(gate.column('user_id', id, true)).toBe(standIn);
    for (const name of ['user_id', 'userId', 'user', 'USER_ID'])
      for (const write of FIELDS) {
        const json = gate.json(write(name, id));
        const isOther = id.includes('@') && !['user_id', 'user'].includes(name);
        if (isOther) expect(textsIn(JSON.parse(json))[0]).toMatch(PSEUDONYM);
        else expect([write(name, id), textsIn(JSON.parse(json))]).toEqual([write(name, id), [standIn]]);
        expect(gate.json(json)).toBe(json);
      }
    expect(gate.userId(standIn)).toBe(standIn);
    expect(gate.column('person', standIn, true)).toBe(standIn);
  });

  test('replaces IDs in elements of by_user, under each name that can hold them, and in a map', () => {
    for (const name of ['user_id', 'user', 'id', 'group_key']) {
      const json = `{"by_user":[{"${name}":"U-17","by_model":[{"group_key":"atlas","id":"m"}]}],"id":"kept"}`;
      const after = JSON.parse(gate.json(json));
      expect(after.by_user[0][name]).toBe(gate.userId('U-17'));
      expect([after.by_user[0].by_model, after.id]).toEqual([[{ group_key: 'atlas', id: 'm' }], 'kept']);
    }
    expect(JSON.parse(gate.json('{"by_user":{"U-17":{"id":"m"},"U-18":5}}'))).toEqual({
      by_user: { [gate.userId('U-17')]: { id: 'm' }, [gate.userId('U-18')]: 5 },
    });
  });

  test('leaves nothing in a field of IDs that is no text', () => {
    const json =
      '{"user_id":17,"user":{"id":"U-17","name":"Ada"},"userId":["U-17"],"x":{"user":null},"y":1.50}';
    expect(gate.json(json)).toBe('{"user_id":null,"user":null,"userId":null,"x":{"user":null},"y":1.50}');
  });

  test('replaces IDs of the known form inside texts and names, and in JSON within a text, cut off or not', () => {
    const id = 'user_01ABCDEFGH';
    const standIn = gate.userId(id);
    for (const text of [id, `su ${id}; ls`, `home-${id}`, `${id}_2`, `/u/${id}/x`, `${id}-2`])
      for (const after of [gate.text(text), gate.key(text), JSON.parse(gate.json(JSON.stringify(text)))])
        expect(after).toBe(text.replace(id, standIn));
    expect(Object.keys(JSON.parse(gate.json(`{"${id}":1}`)))).toEqual([standIn]);
    expect(gate.json(String.raw`{"a":"user\u005f01ABCDEFGH"}`)).toBe(`{"a":"${standIn}"}`);
    const opaque = gate.userId('U-17');
    expect(gate.any('HTTP 500: {"user_id": "U-17", "detail": "cut o')).toContain(`"user_id": "${opaque}"`);
    expect(gate.any('HTTP 500: {"user_id": "U-17')).toBe(`HTTP 500: {"user_id": "${opaque}`);
    const nested = JSON.stringify({ detail: JSON.stringify({ user_id: 'U-17', more: { user: 'U-18' } }) });
    expect(JSON.parse(JSON.parse(gate.json(nested)).detail)).toEqual({
      ...{ user_id: opaque, more: { user: gate.userId('U-18') } },
    });
  });

  test('keeps the cursor of an answer, and no other one', () => {
    const answer = (id: string) => `{"data":[{"user_id":"${id}"}],"meta":{"next_cursor":"${id}"}}`;
    const id = 'user_01ABCDEFGH';
    const noted = `{"data":[],"note":"{\\"user_id\\":\\"${id}\\"}","meta":{"next_cursor":"${id}"}}`;
    for (const text of [answer(id), noted]) {
      const after = gate.answer(text);
      expect(JSON.parse(after).meta.next_cursor).toBe(id);
      expect(after.split(id)).toHaveLength(2);
    }
    expect(gate.json(answer(id))).not.toContain(id);
  });

  test('lets what came through pass again, byte for byte', () => {
    const parts = fc.constantFrom(
      ...['"user_id":', '"user":', '\\"user\\":', '"by_user":', '{', '}', '[', ']', ',', ':', '"', '\\', ' '],
      ...['user_01ABC', 'U-17', 'person', String.raw`\u0075`, '17', 'null', `person-${'0'.repeat(32)}`],
    );
    const texts = fc.array(parts, { maxLength: 14 }).map((list) => list.join(''));
    fc.assert(
      fc.property(texts, fc.jsonValue(), (text, value) => {
        expect(gate.any(gate.any(text))).toBe(gate.any(text));
        expect(gate.text(gate.text(text))).toBe(gate.text(text));
        const json = gate.json(JSON.stringify({ user: text, note: text, by_user: [{ id: text }], value }));
        expect(gate.json(json)).toBe(json);
        expect(() => JSON.parse(json)).not.toThrow();
      }),
      { numRuns: 1500 },
    );
  });
});

describe('a gate that keeps nothing of users', () => {
  test.each(IDS)('leaves nothing of the ID %j in a field of IDs, nor what looks like a pseudonym', (id) => {
    for (const name of ['user_id', 'userId', 'user'])
      for (const write of FIELDS)
        expect(textsIn(JSON.parse(none.json(write(name, id))))).toEqual(['[withheld]']);
    expect(none.text(`run by ${pseudonym.userId(id)}`)).toBe('run by [withheld]');
  });

  test('empties every list of people and withholds every text that somebody wrote, whatever its type', () => {
    const json =
      '{"by_user":{"U-17":1},"x":[{"by_user" : [1]}],"command":["su","ada"],"rationale":{"a":"ask ada"},"branch":null,"matcher": null,"tool":"Read"}';
    expect(none.json(json)).toBe(
      '{"by_user":[],"x":[{"by_user" : []}],"command":"[withheld]","rationale":"[withheld]","branch":null,"matcher": null,"tool":"Read"}',
    );
    expect(none.json(String.raw`{"by\u005fuser":[1],"command":"x"}`)).toBe(
      '{"by_user":[],"command":"[withheld]"}',
    );
    expect(none.body('anything')).toBe('[withheld]');
    for (const column of ['last_error', 'text', 'description', 'command'])
      expect(none.column(column, 'anything', false)).toBe('[withheld]');
    expect(none.column('tool', 'Read', true)).toBe('Read');
  });
});

test('pseudonyms of another key are those of somebody else, and the keys of a joined list are known', () => {
  const other = new Gate({ mode: 'drop', users: 'pseudonym' }, { keys: ['o'.repeat(64), ...keys] });
  const standIn = pseudonym.userId('U-17');
  expect(other.userId('U-17')).not.toBe(standIn);
  expect(other.userId(standIn)).toBe(standIn);
});
