import { exactText } from '../../api/exact.ts';
import type { CreatedSession } from '../../api/sessions/create.ts';
import { canonicalJson, isExact } from '../../core/json.ts';
import { canonicalText } from '../../core/json-text.ts';
import type { Privacy } from '../../privacy/email.ts';
import type { Row, Value } from '../../warehouse/port.ts';
import { Findings } from '../findings.ts';
import { orNull } from './context.ts';

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
  { session, text }: CreatedSession,
  { orgId, privacy }: { readonly orgId: string; readonly privacy: Privacy },
): Row {
  const exact = exactText({ text, body: session });
  const settings = session.sessionSettings ?? null;
  const settingsJson =
    settings === null || isExact(settings)
      ? canonicalJson(settings)
      : canonicalText(exact.fieldText(session, 'sessionSettings') ?? 'null');
  const { title } = session;
  return [
    orgId,
    session.sessionId,
    orNull(title === null || title === undefined ? title : privacy.scrub(title)),
    session.status,
    session.messageCount,
    instantOf(session.createdAt),
    instantOf(session.updatedAt),
    instantOf(session.completedAt ?? null),
    orNull(session.computerId),
    settings === null ? null : canonicalText(privacy.scrubJson(settingsJson)),
    new Findings(privacy).extra(session, FIELDS, { place: 'session', exact }),
  ];
}

function instantOf(unixMs: number | null): Value {
  return unixMs === null ? null : new Date(unixMs).toISOString();
}
