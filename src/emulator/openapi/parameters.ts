import { USERS_LIMIT } from '../endpoints/params.ts';
import type { JsonSchema } from '../input/json-schema.ts';
import { DEFAULT_QUIRKS } from '../quirks/quirks.ts';
import { EXAMPLES } from './examples.ts';
import { day } from './fields.ts';

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
