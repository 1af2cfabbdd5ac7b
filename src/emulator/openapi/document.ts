import { ANALYTICS_PATHS, GROUP_BY, READINESS_PATH, SESSIONS_PATH } from '../../contract/index.ts';
import { READINESS_MOVED_PATH } from '../request.ts';
import {
  EXAMPLES,
  groupBy,
  type JsonSchema,
  type Parameter,
  RANGE,
  READINESS_LIST,
  ref,
  refusals,
  response,
  USERS_PAGE,
} from './building-blocks.ts';
import { ANSWER_SCHEMAS, ROW_SCHEMAS } from './schemas.ts';
import { SESSION_SCHEMAS } from './session-schemas.ts';

/** The groups of operations. Generated clients use them as modules. */
const TAGS = {
  analytics: {
    name: 'Analytics',
    description: 'Usage of the organization by UTC day, one day late. Requires the Manager or Owner role.',
  },
  readiness: {
    name: 'Readiness',
    description: 'Reports on how ready a repository is for agents.',
  },
  sessions: { name: 'Sessions', description: 'Sessions on connected computers, for selected organizations.' },
} as const;

/** The operations of one path. */
interface PathItem {
  readonly get: { readonly operationId: string; readonly [field: string]: unknown };
}

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** The schema of the response with status 200. */
  readonly schema: JsonSchema;
  readonly links?: object;
}

const COMMON_REFUSALS = {
  401: 'Missing or invalid API key.',
  405: 'Only GET is allowed.',
  429: 'Too many requests. The specification does not list it here; the emulator sends it by quirk or rule.',
  500: 'Internal error.',
};
const REFUSALS = {
  analytics: {
    400:
      'Invalid date format, a date that is today or later, a reversed or too long range, limit out of range, or an ' +
      'empty or unknown cursor (the emulator continues after any other text, unless a quirk rejects it).',
    403: 'The key lacks the Manager or Owner role, or analytics is not enabled for the organization.',
  },
  readiness: {
    400: 'Invalid request parameters, or a startAfter that is not a report.',
    403: 'The role is too low. The specification does not list it; the emulator sends it by quirk.',
  },
};

function describeGet(
  operationId: string,
  tag: keyof typeof REFUSALS,
  { summary, description, parameters, schema, links }: Operation,
  more: object = {},
): PathItem {
  const ok = response(200, 'The rows.', schema, links === undefined ? {} : { links });
  const refused = refusals({ ...REFUSALS[tag], ...COMMON_REFUSALS }, 'Problem');
  return {
    get: {
      operationId,
      tags: [TAGS[tag].name],
      summary,
      description,
      parameters,
      responses: { 200: ok, ...refused, ...more },
    },
  };
}

function describeGrouped(
  operationId: string,
  summary: string,
  dimension: string,
  [plain, grouped]: readonly [string, string],
): PathItem {
  return describeGet(operationId, 'analytics', {
    summary,
    description: 'One row per UTC day with activity; with group_by, one row per day and value.',
    parameters: [...RANGE, groupBy(dimension)],
    // The plain response comes first: generated clients try them in this order.
    schema: { anyOf: [ref(plain), ref(grouped)] },
  });
}

function describeReadiness(operationId: string, description: string, more: object = {}): PathItem {
  const nextPage = {
    operationId,
    description:
      'The reports after the first one. The request needs the last report of a page, which a pointer cannot select; ' +
      'with limit=1 they are the same.',
    parameters: { startAfter: '$response.body#/reports/0/reportId' },
  };
  const operation = {
    summary: 'Readiness reports of the organization, page by page.',
    description,
    parameters: READINESS_LIST,
    schema: ref('ReadinessAnswer'),
    links: { nextPage },
  };
  return describeGet(operationId, 'readiness', operation, more);
}

const NEXT_USERS = {
  operationId: 'getUsers',
  description: 'The next page, while meta.has_more is true.',
  parameters: {
    startDate: '$request.query.startDate',
    endDate: '$request.query.endDate',
    cursor: '$response.body#/meta/next_cursor',
  },
};

const REDIRECT = response(
  308,
  `The list has moved to ${READINESS_MOVED_PATH}. The emulator sends it by quirk.`,
  ref('Moved'),
);

/** The operations by path (specification, sections 4.2 and 4.3). */
const OPERATIONS: Readonly<Record<string, PathItem>> = {
  [ANALYTICS_PATHS.tokens]: describeGrouped('getTokens', 'Credits by day.', GROUP_BY.tokens, [
    'TokensAnswer',
    'TokensByModelAnswer',
  ]),
  [ANALYTICS_PATHS.tools]: describeGrouped('getTools', 'Tool usage by day.', GROUP_BY.tools, [
    'ToolsAnswer',
    'ToolsByToolAnswer',
  ]),
  [ANALYTICS_PATHS.activity]: describeGrouped('getActivity', 'Active users by day.', GROUP_BY.activity, [
    'ActivityAnswer',
    'ActivityByClientAnswer',
  ]),
  [ANALYTICS_PATHS.productivity]: describeGet('getProductivity', 'analytics', {
    summary: 'Files and git by day.',
    description: 'One row per UTC day with activity.',
    parameters: RANGE,
    schema: ref('ProductivityAnswer'),
  }),
  [ANALYTICS_PATHS.users]: describeGet('getUsers', 'analytics', {
    summary: 'Users by day, page by page.',
    description:
      'One row per user and UTC day with activity. While meta.has_more is true, repeat the request with cursor set to ' +
      'meta.next_cursor. The length of a page has no meaning.',
    parameters: [...RANGE, ...USERS_PAGE],
    schema: ref('UsersAnswer'),
    links: { nextPage: NEXT_USERS },
  }),
  [READINESS_PATH]: describeReadiness(
    'listReadinessReports',
    'Send the reportId of the last report of a page as startAfter of the next request. Only an empty page is the end, ' +
      'because the server may cap the limit.',
    { 308: REDIRECT },
  ),
  [READINESS_MOVED_PATH]: describeReadiness(
    'listReadinessReportsMoved',
    'Use it only when listReadinessReports responds with 308, at the address in the header Location. Clients that ' +
      'follow redirects on the same host do not need it. Parameters and responses are those of listReadinessReports.',
  ),
};

const SESSION_REFUSALS: Readonly<Record<string, string>> = {
  400: 'The body is not valid JSON or not a valid request, or the computer is unknown.',
  401: 'Missing or invalid credential.',
  403: 'Sessions are not enabled for the organization. The emulator sends it by quirk.',
  405: 'Only POST is allowed.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  429: 'Too many requests. The emulator sends it by quirk or rule.',
  500: 'Internal error.',
};

/** The operation of `/api/v0/sessions` (section 4.1). */
const SESSION_OPERATIONS = {
  post: {
    operationId: 'createSession',
    tags: [TAGS.sessions.name],
    summary: 'Creates a session on a computer.',
    description: 'Not idempotent: a repeated request creates a second session.',
    security: [{ apiKey: [] }, { jwt: [] }],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: ref('SessionRequest'), example: EXAMPLES.session } },
    },
    responses: {
      201: response(201, 'The session.', ref('Session')),
      ...refusals(SESSION_REFUSALS, 'SessionProblem'),
    },
  },
} as const;

/** The path of the document. It needs no key. */
export const OPENAPI_PATH = '/openapi.json';

/** The OpenAPI 3.1 document of what the emulator serves with its default quirks. */
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'Agent Platform API',
    summary: 'Analytics, readiness reports and sessions.',
    version: '1.0.0',
    description:
      'The API of the Daywalk emulator with its default quirks. Where the specification is open, the emulator behaves in ' +
      'the most likely way, and quirks change that; see docs/emulator.md. The examples work with the default seed.',
    contact: { name: 'The Daywalk maintainers' },
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/' }],
  security: [{ apiKey: [] }],
  tags: Object.values(TAGS),
  paths: { ...OPERATIONS, [SESSIONS_PATH]: SESSION_OPERATIONS },
  components: {
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'Authorization: Bearer <API_KEY>. Analytics needs a key of the Manager or Owner role.',
      },
      jwt: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'Creates sessions only. The emulator accepts the JWT in the quirk sessionsJwt.',
      },
    },
    schemas: { ...ROW_SCHEMAS, ...ANSWER_SCHEMAS, ...SESSION_SCHEMAS },
  },
} as const;
