import { ANALYTICS_PATHS, GROUP_BY, READINESS_MOVED_PATH, READINESS_PATH } from '../../api/paths.ts';
import { USERS_LIMIT } from '../params.ts';
import { DEFAULT_QUIRKS } from '../quirks.ts';
import { day, type JsonSchema, ref } from './json-schema.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

function query(name: string, schema: JsonSchema, description: string, required = false): Parameter {
  return { name, in: 'query', required, description, schema };
}

const RANGE = [
  query('startDate', day, 'First UTC day, YYYY-MM-DD.', true),
  query('endDate', day, 'Last UTC day, not before startDate; yesterday (UTC) at the latest.', true),
];

function groupBy(dimension: string): Parameter {
  const schema = { type: 'string', enum: [dimension] };
  return query('group_by', schema, 'One row per day and value of the dimension, which is in group_key.');
}

const LIMIT_AND_CURSOR = [
  query(
    'limit',
    { type: 'integer', minimum: USERS_LIMIT.min, maximum: USERS_LIMIT.max, default: USERS_LIMIT.default },
    'Users per page. A range of several days has one row per user and active day.',
  ),
  query('cursor', { type: 'string' }, 'meta.next_cursor of the page before; a user id.'),
];

const READINESS = [
  query('repoId', { type: 'string' }, 'Only reports of this repository.'),
  query(
    'limit',
    { type: 'integer', minimum: 1 },
    `Reports per page; the server caps it (emulator: ${DEFAULT_QUIRKS.readinessLimitCap}), or answers 400 above its maximum.`,
  ),
  query('startAfter', { type: 'string' }, 'reportId of the last report of the page before.'),
];

function response(description: string, schema: JsonSchema): object {
  const headers = { 'x-request-id': { schema: { type: 'string' } } };
  return { description, headers, content: { 'application/json': { schema } } };
}

/** The operations of one path. */
export interface PathItem {
  readonly get: { readonly operationId: string; readonly [field: string]: unknown };
}

function operation(
  id: string,
  summary: string,
  parameters: readonly Parameter[],
  answer: JsonSchema,
  refusals: Readonly<Record<string, string>>,
): PathItem {
  const failures = Object.entries({ ...refusals, ...COMMON_REFUSALS }).map(([status, description]) => [
    status,
    response(description, ref('Problem')),
  ]);
  return {
    get: {
      operationId: id,
      summary,
      parameters,
      responses: { 200: response('The rows.', answer), ...Object.fromEntries(failures) },
    },
  };
}

const COMMON_REFUSALS = {
  401: 'Missing or invalid API key.',
  405: 'Only GET is allowed.',
  429: 'Too many requests; not documented for these endpoints. The emulator sends it by quirk or rule.',
  500: 'Internal error.',
};
const ANALYTICS_REFUSALS = {
  400: "Invalid date format, today's date or a later one, a reversed or too long range, limit out of range.",
  403: 'The key lacks the Manager or Owner role, or analytics is not enabled for the organization.',
};
const READINESS_REFUSALS = {
  400: 'Invalid request parameters.',
  403: 'The role is too low; not documented. The emulator sends it by quirk.',
};

function analytics(id: string, summary: string, extra: readonly Parameter[], answer: JsonSchema): PathItem {
  return operation(id, summary, [...RANGE, ...extra], answer, ANALYTICS_REFUSALS);
}

function either(plain: string, grouped: string): JsonSchema {
  return { anyOf: [ref(plain), ref(grouped)] };
}

const readiness = operation(
  'listReadinessReports',
  'Readiness reports of the organization, page by page.',
  READINESS,
  ref('ReadinessAnswer'),
  READINESS_REFUSALS,
);

/** The operations by path (specification, sections 4.2 and 4.3). */
export const OPERATIONS: Readonly<Record<string, PathItem>> = {
  [ANALYTICS_PATHS.tokens]: analytics(
    'getTokens',
    'Credits by day.',
    [groupBy(GROUP_BY.tokens)],
    either('TokensAnswer', 'TokensByModelAnswer'),
  ),
  [ANALYTICS_PATHS.tools]: analytics(
    'getTools',
    'Tool usage by day.',
    [groupBy(GROUP_BY.tools)],
    either('ToolsAnswer', 'ToolsByToolAnswer'),
  ),
  [ANALYTICS_PATHS.activity]: analytics(
    'getActivity',
    'Active users by day.',
    [groupBy(GROUP_BY.activity)],
    either('ActivityAnswer', 'ActivityByClientAnswer'),
  ),
  [ANALYTICS_PATHS.productivity]: analytics(
    'getProductivity',
    'Files and git by day.',
    [],
    ref('ProductivityAnswer'),
  ),
  [ANALYTICS_PATHS.users]: analytics(
    'getUsers',
    'Users by day, page by page.',
    LIMIT_AND_CURSOR,
    ref('UsersAnswer'),
  ),
  [READINESS_PATH]: readiness,
  [READINESS_MOVED_PATH]: { get: { ...readiness.get, operationId: 'listReadinessReportsMoved' } },
};
