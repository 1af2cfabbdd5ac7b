import { EXAMPLES } from './examples.ts';

/** A JSON Schema of the 2020-12 dialect, which OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Any number. */
export const number: JsonSchema = { type: 'number' };
/** A published figure of any size. The specification calls it a number and leaves open whether it is always there. */
export const figure: JsonSchema = { type: ['number', 'null'] };
/** A published number of things, with the same promise as {@link figure}. */
export const count: JsonSchema = { type: ['number', 'null'], minimum: 0 };
/** Any text. */
export const text: JsonSchema = { type: 'string' };
/** true or false. */
export const flag: JsonSchema = { type: 'boolean' };
/** A UTC day. */
export const day: JsonSchema = {
  type: 'string',
  format: 'date',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  examples: [EXAMPLES.day],
};
/** The id of a user. */
export const userId: JsonSchema = { type: 'string', description: 'Opaque.', examples: [EXAMPLES.userId] };
/** The email of a user, which may be null. */
export const email: JsonSchema = { type: ['string', 'null'] };

/** One of some texts. */
export function choice(...values: readonly string[]): JsonSchema {
  return { type: 'string', enum: values };
}

/** A schema with an explanation. */
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

/** A row: `identity` is always there, each of the `metrics` may be null or absent (section 2.4). */
export function row(
  identity: Readonly<Record<string, JsonSchema>>,
  metrics: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  return record({ ...identity, ...metrics }, Object.keys(metrics));
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
