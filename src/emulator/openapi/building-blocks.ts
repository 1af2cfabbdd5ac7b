import { DEFAULT_QUIRKS } from '../quirks.ts';

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

/**
 * Values that an emulator with the default seed accepts. The ids depend on the seed alone.
 */
export const EXAMPLES = {
  day: '2026-02-03',
  userId: 'user_01JPVWZ21GA9JE2HS6C9XBAHRK',
  reportId: 'a22663b0-56d4-4820-acc2-eb334496f6e0',
  repoId: 'repo_01JVJXE5004T80V4SMYDNWBQ2M',
  session: {
    computerId: 'computer-1',
    cwd: '/srv/app',
    sessionSettings: {
      model: 'current-model',
      reasoningEffort: 'medium',
      interactionMode: 'auto',
      autonomyLevel: 'low',
      tags: [{ name: 'nightly', metadata: { team: 'platform' } }],
    },
  },
} as const;

/** A published figure. The specification calls it a number and leaves open whether it is always present. */
export const figure: JsonSchema = { type: ['number', 'null'] };
/** A published count, which may be null or absent like a {@link figure}. */
export const count: JsonSchema = { type: ['number', 'null'], minimum: 0 };
/** A UTC day. */
export const day: JsonSchema = {
  type: 'string',
  format: 'date',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  examples: [EXAMPLES.day],
};
export const userId: JsonSchema = { type: 'string', description: 'Opaque.', examples: [EXAMPLES.userId] };
export const email: JsonSchema = { type: ['string', 'null'] };

/** A row: the fields of `identity` are always present; each of the `metrics` may be null or absent (section 2.4). */
export function row(identity: JsonSchemas, metrics: JsonSchemas): JsonSchema {
  return record({ ...identity, ...metrics }, Object.keys(metrics));
}

/** Metrics that are counts. The names are separated by spaces. */
export function counts(names: string): JsonSchemas {
  return Object.fromEntries(names.split(' ').map((name) => [name, count]));
}

/** Users per page of /users (specification, section 8). */
export const USERS_LIMIT = { min: 1, max: 100, default: 20 } as const;

/** A query parameter. An emulator with the default seed knows its example. */
export interface Parameter {
  readonly name: string;
  readonly in: 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: string | number;
}

function query(
  name: string,
  example: string | number,
  schema: JsonSchema,
  description: string,
  required = false,
): Parameter {
  return { name, in: 'query', required, description, schema, example };
}

/** A cursor: any text except the empty one. */
const cursor: JsonSchema = { type: 'string', minLength: 1 };

/** The requested days (specification, section 4.2). */
export const RANGE = [
  query('startDate', EXAMPLES.day, day, 'First UTC day, YYYY-MM-DD.', true),
  query(
    'endDate',
    EXAMPLES.day,
    day,
    'Last UTC day, not before startDate; yesterday (UTC) at the latest.',
    true,
  ),
];

/** The only dimension that an endpoint supports (section 4.2, group_by rules). */
export function groupBy(dimension: string): Parameter {
  const schema = { type: 'string', enum: [dimension] };
  const description = 'One row per day and value of the dimension, which is in group_key.';
  return query('group_by', dimension, schema, description);
}

/** A page of users (section 4.2). */
export const USERS_PAGE = [
  query(
    'limit',
    USERS_LIMIT.default,
    { type: 'integer', minimum: USERS_LIMIT.min, maximum: USERS_LIMIT.max, default: USERS_LIMIT.default },
    'Users per page. A range of several days has one row per user and active day.',
  ),
  query(
    'cursor',
    EXAMPLES.userId,
    cursor,
    'meta.next_cursor of the previous page, a user id. An unknown cursor may get 400.',
  ),
];

/** A page of the readiness list (section 4.3). */
export const READINESS_LIST = [
  query('repoId', EXAMPLES.repoId, { type: 'string' }, 'Only reports of this repository.'),
  query(
    'limit',
    5,
    { type: 'integer', minimum: 1 },
    `Reports per page. The server caps it (emulator: ${DEFAULT_QUIRKS.readinessLimitCap}), or responds with 400 above its maximum.`,
  ),
  query(
    'startAfter',
    EXAMPLES.reportId,
    cursor,
    'reportId of the last report of the previous page. An unknown one gets 400.',
  ),
];

interface Header {
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

function header(description: string, { required = true } = {}): Header {
  return { description, required, schema: text };
}

const REQUEST_ID = { 'x-request-id': header('Identifies the request; a refusal repeats it as requestId.') };

/** Additional headers by status. */
const HEADERS: Readonly<Record<string, Readonly<Record<string, Header>>>> = {
  308: { location: header('The address of the same response, on the same host.') },
  401: { 'www-authenticate': header('The scheme, Bearer.') },
  405: { allow: header('The method that is allowed.') },
  429: {
    // The specification does not show the rate limits, so it may be missing.
    'retry-after': header('Seconds, or an HTTP date, until the next request is allowed.', {
      required: false,
    }),
  },
};

/** Describes a response with its headers and a JSON body. */
export function response(status: number, description: string, schema: JsonSchema, more: object = {}): object {
  const headers = { ...REQUEST_ID, ...HEADERS[status] };
  return { description, headers, content: { 'application/json': { schema } }, ...more };
}

/** Describes refusals by status, all with the same body. */
export function refusals(
  descriptions: Readonly<Record<string, string>>,
  problem: string,
): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [
      status,
      response(Number(status), description, ref(problem)),
    ]),
  );
}
