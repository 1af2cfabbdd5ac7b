import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { isObject, isStorable } from '../core/json.ts';

/**
 * Why a part cannot be used: it does not fit its shape (`wrong-type`); it holds a text that some database cannot store
 * (`not-storable`); it does not belong to the requested days (`foreign`); it has a value that cannot be true (`impossible`); or
 * the answer has its row twice with different values (`contradiction`).
 */
export type RejectedKind = 'wrong-type' | 'not-storable' | 'foreign' | 'impossible' | 'contradiction';

/** A part of an answer that cannot be used. */
export interface Rejected {
  /** The part as it was parsed: a whole row, or one element of a list or map in it. */
  readonly record: unknown;
  /** Its path in the answer, for example `data[0].by_tool[3]`. */
  readonly path: string;
  readonly kind: RejectedKind;
  /** What is wrong with it, for example `tool must be a text`. */
  readonly reason: string;
}

/** Valid rows, and what was left out. */
export interface Checked<Row> {
  readonly rows: Row[];
  readonly rejected: Rejected[];
}

/** The rows of earlier pages of a walk: a fingerprint of the values of each, by its name. */
export type EarlierRows = Map<string, readonly (number | symbol)[]>;

/** Checks rows against a shape. */
export type RowCheck<Row> = (
  rows: readonly unknown[],
  options: { path: string; text: string; earlier?: EarlierRows },
) => Checked<Row>;

/**
 * Compiles the check of a row shape. A valid row is returned unchanged. In an invalid one, bad elements of its lists and
 * maps are left out one by one; if the row itself is wrong, all of it is rejected. No value is altered.
 */
export function rowCheck<Schema extends TSchema>(schema: Schema): RowCheck<Static<Schema>> {
  const validator = validatorOf(schema);
  return (rows, { path, text }) => {
    // Text that no database can store can only come from an escape, and most responses have none.
    const escapes = text.includes('\\u');
    const fits = (value: unknown): value is Static<Schema> =>
      validator.Check(value) && (!escapes || isStorable(value));
    const rejected: Rejected[] = [];
    const kept: Static<Schema>[] = [];
    for (const [index, row] of rows.entries()) {
      if (fits(row)) {
        kept.push(row);
        continue;
      }
      const rest = salvage(schema, row, { path: `${path}[${index}]`, escapes, rejected });
      if (fits(rest)) kept.push(rest);
    }
    return { rows: kept, rejected };
  };
}

const REJECTED = Symbol('rejected');
const validators = new WeakMap<TSchema, Validator>();
/** The originals of copies from which something was left out. */
const originals = new WeakMap<object, object>();

/** The object of the response that a row or element came from. */
export function originalOf(record: object): object {
  return originals.get(record) ?? record;
}

/** A copy of a row or element with other members, which {@link originalOf} traces back. */
export function changedCopy<Part extends object>(record: Part, members: object): Part {
  const copy = { ...record, ...members };
  originals.set(copy, originalOf(record));
  return copy;
}

interface Place {
  readonly path: string;
  readonly escapes: boolean;
  readonly rejected: Rejected[];
}

function validatorOf(schema: TSchema): Validator {
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = Compile(schema);
    validators.set(schema, validator);
  }
  return validator;
}

function isFine(schema: TSchema, value: unknown, place: Place): boolean {
  return validatorOf(schema).Check(value) && (!place.escapes || isStorable(value));
}

/** The usable rest of `value`, or REJECTED; what is left out is added to `place.rejected`. */
function salvage(schema: TSchema, value: unknown, place: Place): unknown {
  if (isFine(schema, value, place)) return value;
  const properties = propertiesOf(schema);
  if (properties === undefined || !isObject(value)) return rejectType(value, place, schema);

  const copy: Record<string, unknown> = changedCopy(value, {});
  for (const [name, property] of Object.entries(properties)) {
    const member = value[name];
    if (member === undefined && isOptional(schema, name)) continue;
    if (isFine(property, member, place)) continue;
    const rest = salvageMember(property, member, { ...place, path: `${place.path}.${name}` });
    if (rest === REJECTED) return rejectType(value, place, property, `${name} `);
    copy[name] = rest;
  }
  const known = Object.keys(properties);
  const alien = Object.entries(value).find(
    ([name, member]) => !known.includes(name) && !isStorable([name, member]),
  );
  if (place.escapes && alien !== undefined)
    return rejectText(value, place, 'holds a text that cannot be stored');
  return isFine(schema, copy, place) ? copy : rejectType(value, place, schema);
}

/** The usable rest of a list or map inside a row; REJECTED for any other value. */
function salvageMember(schema: TSchema, member: unknown, place: Place): unknown {
  const element = listElement(schema);
  if (element !== undefined && Array.isArray(member)) {
    return member
      .map((item, index) => salvage(element, item, { ...place, path: `${place.path}[${index}]` }))
      .filter((item) => item !== REJECTED);
  }
  const entry = mapElement(schema);
  if (entry !== undefined && isObject(member)) {
    return Object.fromEntries(
      Object.entries(member)
        .map(([key, item]) => [key, salvageEntry(entry, key, item, place)] as const)
        .filter(([, item]) => item !== REJECTED),
    );
  }
  return REJECTED;
}

function salvageEntry(schema: TSchema, key: string, item: unknown, place: Place): unknown {
  const inside = { ...place, path: `${place.path}[${JSON.stringify(key)}]` };
  if (isStorable(key))
    return propertiesOf(schema) === undefined
      ? salvageValue(schema, key, item, inside)
      : salvage(schema, item, inside);
  return rejectText({ [key]: item }, inside, 'its name cannot be stored');
}

function salvageValue(schema: TSchema, key: string, item: unknown, place: Place): unknown {
  return isFine(schema, item, place) ? item : rejectType({ [key]: item }, place, schema);
}

function rejectType(record: unknown, place: Place, schema: TSchema, member = ''): typeof REJECTED {
  // A value that fits its shape may still hold a text that no database can store.
  const isUnstorable = place.escapes && !isStorable(record);
  const reason = `${member}must be ${expectation(schema)}${isUnstorable ? ', in text that can be stored' : ''}`;
  place.rejected.push({ record, path: place.path, kind: 'wrong-type', reason });
  return REJECTED;
}

function rejectText(record: unknown, place: Place, reason: string): typeof REJECTED {
  place.rejected.push({ record, path: place.path, kind: 'not-storable', reason });
  return REJECTED;
}

// The schemas are JSON Schema objects. The functions below read only the forms that src/checks/fields.ts builds.

/** The fields of an object shape or of an intersection. */
function propertiesOf(schema: TSchema): Record<string, TSchema> | undefined {
  if ('properties' in schema && isObject(schema.properties))
    return schema.properties as Record<string, TSchema>;
  const parts = intersected(schema).flatMap((part) => propertiesOf(part) ?? []);
  return parts.length === 0 ? undefined : Object.assign({}, ...parts);
}

function isOptional(schema: TSchema, name: string): boolean {
  const required = 'required' in schema && Array.isArray(schema.required) ? schema.required : [];
  return !required.includes(name) && intersected(schema).every((part) => isOptional(part, name));
}

function intersected(schema: TSchema): TSchema[] {
  return 'allOf' in schema && Array.isArray(schema.allOf) ? schema.allOf : [];
}

function alternatives(schema: TSchema): TSchema[] {
  return 'anyOf' in schema && Array.isArray(schema.anyOf) ? schema.anyOf : [schema];
}

function listElement(schema: TSchema): TSchema | undefined {
  const list = alternatives(schema).find((option) => 'items' in option);
  return list !== undefined && 'items' in list && isObject(list.items) ? list.items : undefined;
}

function mapElement(schema: TSchema): TSchema | undefined {
  const map = alternatives(schema).find((option) => 'patternProperties' in option);
  const patterns = map !== undefined && 'patternProperties' in map ? map.patternProperties : undefined;
  return isObject(patterns) ? Object.values(patterns).find(isObject) : undefined;
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number within ±(2^53 − 1)',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
  array: 'a list',
  object: 'an object',
};

function expectation(schema: TSchema): string {
  const names = alternatives(schema).map((option) => {
    const type = 'type' in option && typeof option.type === 'string' ? option.type : '';
    return 'minLength' in option
      ? 'a text that is not empty'
      : (NAMES[type] ?? 'an object with its identity');
  });
  return [...new Set(names)].join(' or ');
}
