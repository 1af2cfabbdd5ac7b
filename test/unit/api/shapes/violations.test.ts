import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { describe, expect, test } from 'vitest';
import { fieldValue } from '../../../../src/checks/fields.ts';
import { violationsOf } from '../../../../src/checks/violations.ts';

const closed = { additionalProperties: false };
const Tag = Type.Object({ name: Type.String({ minLength: 1, maxLength: 3 }) }, closed);
const Shape = Type.Object(
  {
    id: Type.String(),
    count: Type.Optional(Type.Integer()),
    share: Type.Optional(Type.Number()),
    isOn: Type.Optional(Type.Boolean()),
    level: Type.Optional(Type.Enum(['low', 'high'])),
    model: Type.Optional(Type.String({ pattern: '^custom:.+' })),
    note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    tags: Type.Optional(Type.Array(Tag, { uniqueItems: true })),
    more: Type.Optional(Type.Record(Type.String(), Tag)),
  },
  closed,
);

function said(value: unknown, schema: TSchema = Shape, root?: string): string[] {
  return violationsOf(Compile(schema), value, root).map(({ path, message }) => `${path} ${message}`);
}

describe('the violations of a value', () => {
  test('are none if it fits', () => {
    expect(
      said({ id: 'x', count: 1, note: null, tags: [{ name: 'a' }], more: { 'b c': { name: 'd' } } }),
    ).toEqual([]);
  });

  test.each([
    ['a missing field', {}, ['id is required']],
    ['a text that is a number', { id: 7 }, ['id must be a text']],
    ['a number with a fraction', { id: 'x', count: 1.5 }, ['count must be a whole number']],
    ['a number that is a text', { id: 'x', share: '1' }, ['share must be a finite number']],
    ['a yes that is a text', { id: 'x', isOn: 'yes' }, ['isOn must be true or false']],
    ['a list that is an object', { id: 'x', tags: {} }, ['tags must be a list']],
    ['an object that is a list', { id: 'x', more: [] }, ['more must be an object']],
    ['another word', { id: 'x', level: 'mid' }, ['level must be one of low, high']],
    ['another model', { id: 'x', model: 'm' }, ['model must name a model after custom:']],
    [
      'a field that nobody knows',
      { id: 'x', 'a b': 1, z: 2 },
      ['["a b"] unknown property', 'z unknown property'],
    ],
    // Of the two alternatives, null needs no words.
    ['neither a text nor null', { id: 'x', note: 1 }, ['note must be a text']],
  ])('name %s', (_, value, expected) => {
    expect(said(value)).toEqual(expected);
  });

  test('name the place of each, in lists and under any name', () => {
    const tags = [{ name: 'a' }, { name: '' }, { name: 'four' }, {}];
    expect(said({ id: 'x', tags, more: { 'b/c~d': { name: 1 }, e1: { f: 1, name: 'g' } } })).toEqual([
      'tags[1].name must not be empty',
      'tags[2].name must not be longer than 3 characters',
      'tags[3].name is required',
      'more["b/c~d"].name must be a text',
      'more.e1.f unknown property',
    ]);
    const odd = Type.Record(Type.String(), Type.String());
    expect(said({ '1a': 1, 'a-': 1, '': 1, ok_1: 1 }, odd)).toEqual([
      '["1a"] must be a text',
      '["a-"] must be a text',
      '[""] must be a text',
      'ok_1 must be a text',
    ]);
  });

  test('of the whole value are those of the request, or of what it is called', () => {
    expect(said([])).toEqual(['request must be an object']);
    expect(said(null, Shape, 'document')).toEqual(['document must be an object']);
  });

  test('name other rules by their name', () => {
    expect(said({ id: 'x', tags: [{ name: 'a' }, { name: 'a' }] })).toEqual([
      'tags is not allowed (uniqueItems)',
    ]);
  });

  test('are all named, each once, and other validations keep their limit', () => {
    const { maxErrors } = Settings.Get();
    Settings.Set({ maxErrors: 5 });
    const value = { id: 'x', tags: Array.from({ length: 200 }, (_, name) => ({ name })) };
    expect(said(value)).toHaveLength(200);
    const twice = Type.Intersect([Type.Object({ id: Type.String() }), Type.Object({ id: Type.String() })]);
    expect(said({ id: 1 }, twice)).toEqual(['id must be a text']);
    expect(Settings.Get().maxErrors).toBe(5);
    Settings.Set({ maxErrors });
  });
});

test.each([
  ['metric', 1.5, 1.5],
  ['metric', null, null],
  ['metric', 'x', undefined],
  ['metric', 2 ** 53, undefined],
  ['label', 'x', 'x'],
  ['label', null, null],
  ['label', 1, undefined],
  ['label', 'a\u0000b', undefined],
  ['key', 'x', undefined],
])('a column of the kind %s holds %j as %j', (kind, field, expected) => {
  expect(fieldValue(kind, field)).toBe(expected);
});
