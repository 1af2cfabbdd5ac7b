/** A JSON Schema of the 2020-12 dialect, which OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Any number. */
export const number: JsonSchema = { type: 'number' };
/** A number of things. */
export const count: JsonSchema = { type: 'number', minimum: 0 };
/** Any text. */
export const text: JsonSchema = { type: 'string' };
/** true or false. */
export const flag: JsonSchema = { type: 'boolean' };
/** A UTC day. */
export const day: JsonSchema = { type: 'string', format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' };
/** The id of a user. */
export const userId: JsonSchema = {
  type: 'string',
  description: 'Opaque.',
  examples: ['user_01JPW9B257A9JE2HS6C9XBAHRK'],
};
/** The email of a user, which may be null. */
export const email: JsonSchema = { type: ['string', 'null'] };

/** A number with an explanation. */
export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

/** An object whose fields are all required, except those named. */
export function record(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', required, properties };
}

/** A list. */
export function list(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

/** An object keyed by open-ended names. */
export function map(values: JsonSchema, description: string): JsonSchema {
  return { type: 'object', additionalProperties: values, description };
}

/** Points to a schema of the document. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
