import { ANALYTICS_PATHS, GROUP_BY, READINESS_MOVED_PATH, READINESS_PATH } from '../../api/paths.ts';
import { type JsonSchema, ref } from '../input/json-schema.ts';
import { groupBy, type Parameter, RANGE, READINESS_LIST, USERS_PAGE } from './parameters.ts';
import { refusals, response } from './responses.ts';
import { TAGS } from './tags.ts';

/** The operations of one path. */
export interface PathItem {
  readonly get: { readonly operationId: string; readonly [field: string]: unknown };
}

interface Operation {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly answer: JsonSchema;
  readonly refusals: Readonly<Record<string, string>>;
  readonly links?: object;
}

function operation(asked: Operation): PathItem {
  const { id, tag, summary, description, parameters, answer, links } = asked;
  const ok = response(200, 'The rows.', answer, links === undefined ? {} : { links });
  return {
    get: {
      operationId: id,
      tags: [tag],
      summary,
      description,
      parameters,
      responses: { 200: ok, ...refusals({ ...asked.refusals, ...COMMON_REFUSALS }, 'Problem') },
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
  400:
    "Invalid date format, today's date or a later one, a reversed or too long range, limit out of range, an empty or " +
    'unknown cursor (the emulator takes any other text for a place in the list, unless a quirk says otherwise).',
  403: 'The key lacks the Manager or Owner role, or analytics is not enabled for the organization.',
};
const READINESS_REFUSALS = {
  400: 'Invalid request parameters, or a startAfter that is no report.',
  403: 'The role is too low; not documented. The emulator sends it by quirk.',
};

function analytics(
  id: string,
  summary: string,
  { description, parameters = [], answer, links }: Partial<Operation> & { answer: JsonSchema },
): PathItem {
  return operation({
    id,
    tag: TAGS.analytics.name,
    summary,
    description: description ?? 'One row per UTC day with activity; with group_by, one per day and value.',
    parameters: [...RANGE, ...parameters],
    answer,
    refusals: ANALYTICS_REFUSALS,
    ...(links === undefined ? {} : { links }),
  });
}

/** Either answer. The plain one comes first: generated clients try them in this order. */
function either(plain: string, grouped: string): JsonSchema {
  return { anyOf: [ref(plain), ref(grouped)] };
}

const NEXT_USERS = {
  nextPage: {
    operationId: 'getUsers',
    description: 'The next page, while meta.has_more is true.',
    parameters: {
      startDate: '$request.query.startDate',
      endDate: '$request.query.endDate',
      cursor: '$response.body#/meta/next_cursor',
    },
  },
};

function readiness(id: string, description: string): PathItem {
  const nextPage = {
    operationId: id,
    description:
      'The reports after the first one. A pointer cannot name the last report of a page, which is the one to send; ' +
      'with limit=1 they are the same.',
    parameters: { startAfter: '$response.body#/reports/0/reportId' },
  };
  return operation({
    id,
    tag: TAGS.readiness.name,
    summary: 'Readiness reports of the organization, page by page.',
    description,
    parameters: READINESS_LIST,
    answer: ref('ReadinessAnswer'),
    refusals: READINESS_REFUSALS,
    links: { nextPage },
  });
}

const listed = readiness(
  'listReadinessReports',
  'Send the reportId of the last report of a page as startAfter of the next request. Only an empty page is the end, ' +
    'because the server may cap the limit.',
);

const REDIRECT = response(
  308,
  `The list has moved to ${READINESS_MOVED_PATH}. The emulator sends it by quirk.`,
  ref('Moved'),
);

/** The operations by path (specification, sections 4.2 and 4.3). */
export const OPERATIONS: Readonly<Record<string, PathItem>> = {
  [ANALYTICS_PATHS.tokens]: analytics('getTokens', 'Credits by day.', {
    parameters: [groupBy(GROUP_BY.tokens)],
    answer: either('TokensAnswer', 'TokensByModelAnswer'),
  }),
  [ANALYTICS_PATHS.tools]: analytics('getTools', 'Tool usage by day.', {
    parameters: [groupBy(GROUP_BY.tools)],
    answer: either('ToolsAnswer', 'ToolsByToolAnswer'),
  }),
  [ANALYTICS_PATHS.activity]: analytics('getActivity', 'Active users by day.', {
    parameters: [groupBy(GROUP_BY.activity)],
    answer: either('ActivityAnswer', 'ActivityByClientAnswer'),
  }),
  [ANALYTICS_PATHS.productivity]: analytics('getProductivity', 'Files and git by day.', {
    description: 'One row per UTC day with activity.',
    answer: ref('ProductivityAnswer'),
  }),
  [ANALYTICS_PATHS.users]: analytics('getUsers', 'Users by day, page by page.', {
    description:
      'One row per user and UTC day with activity. While meta.has_more is true, repeat the request with cursor set to ' +
      'meta.next_cursor; how long a page is says nothing.',
    parameters: USERS_PAGE,
    answer: ref('UsersAnswer'),
    links: NEXT_USERS,
  }),
  [READINESS_PATH]: {
    get: { ...listed.get, responses: { ...Object(listed.get['responses']), 308: REDIRECT } },
  },
  [READINESS_MOVED_PATH]: readiness(
    'listReadinessReportsMoved',
    `Call it only where listReadinessReports answers 308, at the address that the header Location gives; clients that ` +
      'follow redirects on the same host need not know it. Parameters and answers are those of listReadinessReports.',
  ),
};
