/** A JSON Schema of the 2020-12 dialect, which OpenAPI 3.1 uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | false;
  readonly items?: JsonSchema;
  /** Any other keyword, such as `description`. */
  readonly [keyword: string]: unknown;
}

/** Schemas by name. */
export type JsonSchemas = Readonly<Record<string, JsonSchema>>;

const REF_PREFIX = '#/components/schemas/';

export const number: JsonSchema = { type: 'number' };
export const text: JsonSchema = { type: 'string' };
export const flag: JsonSchema = { type: 'boolean' };

/** One of the given texts. */
export function choice(...values: readonly string[]): JsonSchema {
  return { type: 'string', enum: values };
}

/** A schema with an explanation. */
export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

/** An object whose fields are required, except the `optional` ones. */
export function record(properties: JsonSchemas, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', required, properties };
}

/** An object like {@link record} that has no other fields. */
export function closedRecord(properties: JsonSchemas, optional: readonly string[]): JsonSchema {
  return { ...record(properties, optional), additionalProperties: false };
}

/** A list. */
export function list(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

/** An object with any keys. */
export function map(values: JsonSchema, description: string): JsonSchema {
  return { type: 'object', additionalProperties: values, description };
}

/** A reference to a named schema. */
export function ref(name: string): JsonSchema {
  return { $ref: REF_PREFIX + name };
}

/** The name in a reference; null for a schema without one. */
export function nameOfRef({ $ref }: JsonSchema): string | null {
  return $ref?.slice(REF_PREFIX.length) ?? null;
}
