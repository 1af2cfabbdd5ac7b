import type { RoundReport } from '../../../../jobs/run-round.ts';
import { publicName } from '../../../privacy/public-text.ts';
import type { IncidentFacts } from './incident.ts';
import { messageText, type NamedIncident } from './incident-text.ts';

/** The incidents of each list in a message. The counts include those that are left out. */
const LISTED_MAX = 50;

export type WebhookFormat = 'json' | 'chat';

/** The body of a message to the webhook, see docs/notifications.md. */
export function messageBody(
  { opened, over }: { readonly opened: readonly NamedIncident[]; readonly over: readonly NamedIncident[] },
  { round, format }: { readonly round: RoundReport; readonly format: WebhookFormat },
): string {
  const text = messageText(opened, over);
  if (format === 'chat') return JSON.stringify({ text });
  return JSON.stringify({
    version: 1,
    sent_at: round.endedAt,
    command: round.command,
    exit_code: round.exitCode,
    text,
    opened_count: opened.length,
    over_count: over.length,
    opened: opened.slice(0, LISTED_MAX).map(listed),
    over: over.slice(0, LISTED_MAX).map(listed),
  });
}

function listed({ id, kind, organization, openedAt, endedAt, facts }: NamedIncident) {
  return { id, kind, organization, opened_at: openedAt, ended_at: endedAt, ...publicFacts(facts) };
}

/** Names of teams come from a person's file; every other fact comes from this program. The job is the organization. */
function publicFacts({ team, job, ...facts }: IncidentFacts): IncidentFacts {
  return team === undefined ? facts : { ...facts, team: publicName(String(team)) };
}
