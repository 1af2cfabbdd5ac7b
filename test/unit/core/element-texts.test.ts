// @module-tag campaign/answers

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { elementTexts, listText } from '../../../src/core/json-text.ts';
import { answersMax } from '../../support/suite/campaign-length.ts';

test('the texts of a list are its elements as they are written', () => {
  const text =
    ' { "meta" : {"data":[0]}, "data" : [ 1.0 ,{"a" : "]},\\"" }\n,[ ] ,"x" , 1e400,null ] , "z":[2]}';
  expect(elementTexts(text, 'data')).toEqual(['1.0', '{"a" : "]},\\"" }', '[ ]', '"x"', '1e400', 'null']);
  expect(elementTexts('{"data":[1],"data":[2]}', 'data')).toEqual(['2']);
  for (const without of ['{}', '{"data":{}}', '{"data":[]}', '{"dat\\u0061x":[1]}'])
    expect(elementTexts(without, 'data')).toEqual([]);
  expect(elementTexts('{"d\\u0061ta":[1]}', 'data')).toEqual(['1']);
});

test('any list is cut where a parser cuts it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.jsonValue({ maxDepth: 3 })), fc.nat(4), (other, data, indent) => {
      for (const body of [
        { other, data },
        { data, other },
        { 'da"ta\\': other, data, z: [other] },
      ]) {
        const texts = elementTexts(JSON.stringify(body, null, indent), 'data');
        expect(texts.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(data)));
        expect(texts.every((text) => text.trim() === text)).toBe(true);
      }
    }),
    { numRuns: answersMax(500, 100) },
  );
});

test('the text of a list ends where the list ends, whatever stands after it', () => {
  const text =
    '{"meta":{"data":[0]},"data":[ {"a":"]}"}, [1] ],"more":[2,{"x":"],\\"data\\":["}],"z":{"data":[3]}}';
  expect(listText(text, 'data', JSON.parse(text))).toBe(' {"a":"]}"}, [1] ');
  expect(listText('{"data":[]}', 'data', { data: [] })).toBe('');
  for (const without of ['{}', '{"data":{}}', '{"x":[1]}', '[]', '{"data":"[1]"}'])
    expect(listText(without, 'data', JSON.parse(without))).toBeUndefined();
  // Too many lists follow to be worth the search.
  const many = `{"data":[1],"z":[${'[],'.repeat(20)}[]]}`;
  expect(listText(many, 'data', JSON.parse(many))).toBeUndefined();
});

test('the text of any list, put between the brackets of another, is the same list', () => {
  const member = fc.constantFrom('data', 'meta', 'z', ']', '],"data":[', '"');
  const members = fc.array(fc.tuple(member, fc.jsonValue({ maxDepth: 3 })), { maxLength: 4 });
  const RUNS = answersMax(2_000, 400);
  let found = 0;
  fc.assert(
    fc.property(members, fc.array(fc.jsonValue({ maxDepth: 3 })), members, (before, data, after) => {
      // A name may occur twice, as in no object of JavaScript.
      const parts = [...before, ['data', data] as const, ...after];
      const text = `{${parts.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(' ,')}}`;
      const parsed = JSON.parse(text);
      const list = listText(text, 'data', parsed);
      if (list === undefined) return;
      found += 1;
      expect(JSON.parse(`{"data":[${list}]}`).data).toEqual(parsed.data);
    }),
    { numRuns: RUNS },
  );
  expect(found).toBeGreaterThan(RUNS / 4);
});
