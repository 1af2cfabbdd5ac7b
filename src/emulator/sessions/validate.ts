import { type JsonSchema, nameOfRef } from '../input/json-schema.ts';
import { isRecord } from '../input/parse.ts';
import { SESSION_SCHEMAS } from './schemas.ts';

/** One invalid place of a request, as `metadata.problems` of the 400 lists it. */
export interface Violation {
  /** JSON pointer into the body; '' for the body itself. */
  readonly pointer: string;
  readonly rule: string;
}

/** Lists everything that is wrong with the body of a request to create a session. */
export function findViolations(json: unknown): Violation[] {
  return [...check(json, SESSION_SCHEMAS['SessionRequest'] ?? {}, '')];
}

/** Checks a value against the keywords that the session schemas use. */
function* check(value: unknown, referring: JsonSchema, pointer: string): Generator<Violation> {
  const schema = SESSION_SCHEMAS[nameOfRef(referring) ?? ''] ?? referring;
  switch (schema.type) {
    case 'string':
      if (!isText(value, schema)) yield { pointer, rule: describeText(schema) };
      return;
    case 'boolean':
      if (typeof value !== 'boolean') yield { pointer, rule: 'boolean' };
      return;
    case 'number':
      // JSON has no infinity, but JSON.parse reads 1e400 as one.
      if (!Number.isFinite(value)) yield { pointer, rule: 'finite number' };
      return;
    case 'array':
      if (Array.isArray(value)) yield* checkMembers(value, pointer, () => schema.items);
      else yield { pointer, rule: 'array' };
      return;
    case 'object':
      if (isRecord(value)) yield* checkObject(value, schema, pointer);
      else yield { pointer, rule: 'object' };
  }
}

function* checkObject(
  value: Readonly<Record<string, unknown>>,
  { required = [], properties = {}, additionalProperties }: JsonSchema,
  pointer: string,
): Generator<Violation> {
  for (const name of required) {
    if (!Object.hasOwn(value, name)) yield { pointer: `${pointer}/${name}`, rule: 'required' };
  }
  const known = new Map(Object.entries(properties));
  yield* checkMembers(value, pointer, (key) => known.get(key) ?? additionalProperties);
}

function* checkMembers(
  value: object,
  pointer: string,
  schemaOf: (key: string) => JsonSchema | false | undefined,
): Generator<Violation> {
  for (const [key, member] of Object.entries(value)) {
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const schema = schemaOf(key);
    if (schema === false) yield { pointer: at, rule: 'no such property' };
    else if (schema !== undefined) yield* check(member, schema, at);
  }
}

/** Lengths count code points, as in JSON Schema. */
function isText(value: unknown, schema: JsonSchema): boolean {
  if (typeof value !== 'string') return false;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  // A code point has two code units at most, so a much longer text need not be counted.
  if (value.length > 2 * maxLength || [...value].length > maxLength || value.length < minLength) return false;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
  return pattern === undefined || new RegExp(pattern, 'u').test(value);
}

function describeText({ description, enum: choices, minLength, maxLength }: JsonSchema): string {
  if (typeof description === 'string') return description;
  if (choices !== undefined) return choices.join('|');
  if (maxLength !== undefined) return `string of ${minLength ?? 0} to ${maxLength} characters`;
  return minLength === undefined ? 'string' : 'non-empty string';
}
