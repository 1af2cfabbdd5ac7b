import type { CreatedSession, KnownSession } from '../../api/create-session.ts';
import { exactText } from '../../checks/exact.ts';
import { canonicalJson, isExact } from '../../core/json.ts';
import { canonicalText } from '../../core/json-text.ts';
import type { Privacy } from '../../privacy/email.ts';
import type { SessionRow } from '../../records/runs.ts';
import { Findings } from './records.ts';

const FIELDS = new Set([
  'sessionId',
  'title',
  'status',
  'messageCount',
  'createdAt',
  'updatedAt',
  'completedAt',
  'computerId',
  'sessionSettings',
]);

/** The row of a created session in the table `sessions`: every field, the settings as JSON, unknown fields in `extra`. */
export function sessionRow(
  { session, text, malformed = {} }: CreatedSession | KnownSession,
  { orgId, privacy }: { readonly orgId: string; readonly privacy: Privacy },
): SessionRow {
  // What the answer has, malformed fields included.
  const answered = { ...session, ...malformed };
  const exact = exactText({ text, body: answered });
  const settings = session.sessionSettings ?? null;
  const settingsJson =
    settings === null || isExact(settings)
      ? canonicalJson(settings)
      : canonicalText(exact.fieldText(answered, 'sessionSettings') ?? 'null');
  const { title, completedAt } = session;
  return {
    org_id: orgId,
    session_id: session.sessionId,
    title: title === null || title === undefined ? null : privacy.scrub(title),
    status: session.status,
    message_count: session.messageCount ?? null,
    created_at: instantOf(session.createdAt),
    updated_at: instantOf(session.updatedAt),
    completed_at: completedAt === null || completedAt === undefined ? null : instantOf(completedAt),
    computer_id: session.computerId ?? null,
    session_settings: settings === null ? null : canonicalText(privacy.scrubJson(settingsJson)),
    extra: new Findings(privacy).extra(
      answered,
      new Set([...FIELDS].filter((name) => !(name in malformed))),
      { place: 'session', exact },
    ),
  };
}

function instantOf(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
