import {
  choice,
  described,
  flag,
  type JsonSchema,
  type JsonSchemas,
  list,
  map,
  record,
  ref,
  text,
} from '../input/json-schema.ts';
import { EXAMPLES } from './examples.ts';
import { day } from './fields.ts';

const meta = { org_id: text, start_date: day, end_date: day };

function envelope(rowName: string, metaName = 'Meta'): JsonSchema {
  return record({ data: list(ref(rowName)), meta: ref(metaName) });
}

const readinessReport = record(
  {
    reportId: {
      type: 'string',
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: 'UUID.',
      examples: [EXAMPLES.reportId],
    },
    createdAt: { type: 'number', description: 'Unix milliseconds; a fraction is possible.' },
    repoUrl: text,
    apps: ref('ReadinessApps'),
    report: ref('ReadinessCriteria'),
    commitHash: text,
    branch: text,
    hasLocalChanges: flag,
    hasNonRemoteCommits: flag,
    modelUsed: ref('ModelUsed'),
    droidVersion: described(text, 'Version of the CLI that created the report.'),
  },
  ['commitHash', 'branch', 'hasLocalChanges', 'hasNonRemoteCommits', 'modelUsed', 'droidVersion'],
);

/** Whole responses: the envelopes of section 2.4, the readiness list of section 4.3, and the error of section 2.6. */
export const ANSWER_SCHEMAS: JsonSchemas = {
  Meta: record(meta),
  UsersMeta: record({
    ...meta,
    has_more: described(flag, 'Whether another page follows.'),
    next_cursor: {
      type: ['string', 'null'],
      description: 'The cursor of the next page; null on the last one.',
    },
  }),
  TokensAnswer: envelope('TokensRow'),
  TokensByModelAnswer: envelope('TokensByModelRow'),
  ToolsAnswer: envelope('ToolsRow'),
  ToolsByToolAnswer: envelope('ToolsByToolRow'),
  ActivityAnswer: envelope('ActivityRow'),
  ActivityByClientAnswer: envelope('ActivityByClientRow'),
  ProductivityAnswer: envelope('ProductivityRow'),
  UsersAnswer: envelope('UserRow', 'UsersMeta'),
  Criterion: record({
    numerator: {
      type: ['number', 'null'],
      minimum: 0,
      description: 'Sub-applications that pass; null when the criterion was skipped.',
    },
    denominator: { type: 'number', minimum: 1, description: 'Sub-applications evaluated.' },
    rationale: text,
  }),
  ReadinessApp: record({ description: text }),
  ReadinessApps: map(ref('ReadinessApp'), 'By application path.'),
  ReadinessCriteria: map(ref('Criterion'), 'By criterion id. New criteria appear over time.'),
  ModelUsed: record({ id: text, reasoningEffort: choice('low', 'medium', 'high', 'off') }),
  ReadinessReport: readinessReport,
  ReadinessAnswer: record({ reports: list(ref('ReadinessReport')) }),
  Moved: record({ redirect: described(text, 'Path of the response, also in the header Location.') }),
  Problem: record({
    title: described(text, 'The title of the HTTP status.'),
    detail: text,
    status: { type: 'integer', minimum: 400, maximum: 599 },
    requestId: described(text, 'Also in the header x-request-id.'),
  }),
};
