import { describe, expect, it, test } from 'vitest';
import {
  cursorsIn,
  fieldBefore,
  isCursor,
  literalAt,
  literalsOf,
  type ObjectScope,
  replaceDays,
  valueAfter,
  withoutEscapes,
} from '../../../src/privacy/json-literals.ts';

/** The fields of the objects around a text, from the innermost; null for one that is no field. */
function around(object: ObjectScope | undefined): (string | null)[] {
  return object === undefined ? [] : [object.field ?? null, ...around(object.parent)];
}

describe('the texts of a JSON text', () => {
  test.each<[json: string, texts: readonly (readonly [string, string | null, (string | null)[]])[]]>([
    ['"t"', [['t', null, []]]],
    [
      '["t", ["u"]]',
      [
        ['t', null, []],
        ['u', null, []],
      ],
    ],
    [
      '{"a" : "x", "n":1}',
      [
        ['a', null, [null]],
        ['x', 'a', [null]],
        ['n', null, [null]],
      ],
    ],
    [
      '[{"a":"x"}]',
      [
        ['a', null, [null]],
        ['x', 'a', [null]],
      ],
    ],
    [
      '{"b":["y",{"c":"z"},["w"]],"d":"e"}',
      [
        ['b', null, [null]],
        ['y', 'b', [null]],
        ['c', null, ['b', null]],
        ['z', 'c', ['b', null]],
        ['w', 'b', [null]],
        ['d', null, [null]],
        ['e', 'd', [null]],
      ],
    ],
    [
      '{"d":{"e":{"f":["g"]}}}',
      [
        ['d', null, [null]],
        ['e', null, ['d', null]],
        ['f', null, ['e', 'd', null]],
        ['g', 'f', ['e', 'd', null]],
      ],
    ],
  ])('belong to fields and objects: %s', (json, texts) => {
    const found = literalsOf(json);
    expect(found.map(({ value, field, object }) => [value, field ?? null, around(object)])).toEqual(texts);
    for (const { start, end, value } of found) expect(JSON.parse(json.slice(start, end))).toBe(value);
  });

  test.each([
    ['inside', '{"a":"x@y"}', 7, 'x@y'],
    ['at its quote', '{"a":"x@y"}', 5, 'x@y'],
    ['after a quote in it', JSON.stringify(['a"b@']), 5, 'a"b@'],
    ['after a backslash and a quote in it', JSON.stringify(['a\\"b@']), 7, 'a\\"b@'],
    ['before every text', '[5, "x"]', 2, undefined],
    ['after one that ends with a backslash', String.raw`"a\\" @`, 6, undefined],
    ['right after one that ends with a backslash', String.raw`"a\\"@`, 5, undefined],
  ])('are found from a position %s', (_, json, position, value) => {
    expect(literalAt(json, position)?.value).toBe(value);
  });

  test.each([
    ['{"a":"x"}', 'a'],
    ['{"a" \n:\t "x"}', 'a'],
    [String.raw`{"a\"b":"x"}`, 'a"b'],
    [String.raw`{"a\\":"x"}`, 'a\\'],
    ['{"a":["y","x"]}', undefined],
    ['{"a":1,"x":2}', undefined],
    [':"x"', undefined],
  ])('are values of the field before them: %s', (json, field) => {
    expect(fieldBefore(json, json.lastIndexOf('"x"'))).toBe(field);
  });

  test.each([
    ['{"email":"x"}', '"x"'],
    ['{"email" \n:\t "x"}', '"x"'],
    ['{"email":5}', undefined],
    ['["email","x"]', undefined],
    ['{"email":["x"]}', undefined],
  ])('are names of values that are texts: %s', (json, value) => {
    const at = valueAfter(json, json.indexOf('"email"') + '"email"'.length);
    expect(at === undefined ? undefined : json.slice(at, at + 3)).toBe(value);
  });
});

describe('the cursor of the next page', () => {
  const page = `{"data":[{"next_cursor":"a","meta":{"next_cursor":"b"}}],"meta":{"org_id":"o","next_cursor":"c",
    "meta":{"next_cursor":"d"},"z":{"next_cursor":"e"}},"next_cursor":"f","other":{"next_cursor":"g"}}`;

  it.each([
    [page, ['c']],
    ['{"meta":{"next_cursor":"c"},"data":[{"meta":{"next_cursor":"b"}}]}', ['c']],
    [String.raw`{"m\u0065ta":{"next_cursor":"c"}}`, ['c']],
    ['{"meta":["next_cursor"],"x":"y"}', []],
    ['{"meta":"next_cursor"}', []],
    ['{"data":[],"other":{"next_cursor":"g"}}', []],
    ['["next_cursor","x"]', []],
  ])('is in the field meta of an answer, and nowhere else: %s', (json, expected) => {
    expect([...cursorsIn(json)].map((at) => literalAt(json, at)?.value)).toEqual(expected);
    expect(
      literalsOf(json)
        .filter(isCursor)
        .map(({ value }) => value),
    ).toEqual(expected);
  });
});

test('escapes that nobody needs are written out, and all others stay', () => {
  expect(withoutEscapes(String.raw`{"\u0064\\u0064\\\u0064":"\u0022\u005c\u00e4\u007f"}`)).toBe(
    String.raw`{"d\\u0064\\d":"\u0022\u005c\u00e4\u007f"}`,
  );
});

test('a text without a day that is meant stays as it is, with its escapes', () => {
  const json = String.raw`{"\u0064ate":"2026-02-01"}`;
  expect(
    replaceDays(
      json,
      () => false,
      () => '',
    ),
  ).toBe(json);
  expect(
    replaceDays(
      json,
      () => true,
      (object) => `<${object}>`,
    ),
  ).toBe('<{"date":"2026-02-01"}>');
  const nested = '[{"date":"2026-01-01","in":[{"date":"2026-01-02"}]},{"date":"2026-02-01"}]';
  expect(
    replaceDays(
      nested,
      (day) => day < '2026-02-01',
      () => '{}',
    ),
  ).toBe('[{},{"date":"2026-02-01"}]');
});
