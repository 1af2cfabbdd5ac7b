import type { RoundReport } from '../../../jobs/round.ts';
import { isDay, spansOf, type UtcDay } from '../../core/day.ts';
import { describeExitCode, isExitCode } from '../../core/exit-code.ts';
import { publicName } from '../../privacy/public-text.ts';
import type { Incident, IncidentFacts } from './incidents.ts';

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

/** An incident with the name of its organization. */
export interface NamedIncident extends Incident {
  readonly organization: string;
}

/** Lines of each list in a text. */
const LINES_MAX = 20;

/** The text of a message, for people. */
export function messageText(opened: readonly NamedIncident[], over: readonly NamedIncident[]): string {
  const lists = [...listOf('New problems:', opened, beginningOf), ...listOf('Solved problems:', over, endOf)];
  return ['Daywalk', ...lists].join('\n');
}

function listOf(
  title: string,
  incidents: readonly NamedIncident[],
  sentenceOf: (incident: NamedIncident, days: string) => string,
): string[] {
  const lines = grouped(incidents).map(({ incident, days }) => {
    const both = incident.endedAt !== null && sentenceOf === beginningOf ? ' (solved meanwhile)' : '';
    return `- ${incident.organization}: ${sentenceOf(incident, days)}${both}`;
  });
  const more = lines.length - LINES_MAX;
  const shown = [...lines.slice(0, LINES_MAX), ...(more > 0 ? [`- and ${more} more`] : [])];
  return lines.length === 0 ? [] : [title, ...shown];
}

interface Group {
  readonly incident: NamedIncident;
  /** Its days in words. */
  readonly days: string;
}

/** Joins days in a row of the same stream, so that a hole of a year is one line. */
function grouped(incidents: readonly NamedIncident[]): Group[] {
  const groups = new Map<string, { incident: NamedIncident; days: UtcDay[] }>();
  for (const incident of incidents) {
    const { kind, organization, id, facts, endedAt } = incident;
    const { stream = '', day } = facts;
    const isJoined = kind === 'day-missing' && isDay(day);
    const name = isJoined ? JSON.stringify([organization, stream, endedAt === null]) : id;
    const group = groups.get(name) ?? { incident, days: [] };
    if (isDay(day)) group.days.push(day);
    groups.set(name, group);
  }
  return [...groups.values()].flatMap(({ incident, days }): Group[] => {
    const spans = spansOf(days.toSorted());
    if (spans.length === 0) return [{ incident, days: '' }];
    return spans.map(({ from, until }) => ({
      incident,
      days: from === until ? from : `${from} to ${until}`,
    }));
  });
}

function beginningOf({ kind, facts }: NamedIncident, days: string): string {
  switch (kind) {
    case 'run-failed':
      return `the run failed with exit code ${exitCodeOf(facts)}`;
    case 'loss-doubted':
      return `${unitOf(facts, days)}: the answers of the service lack ${facts['missing_rows'] ?? 0} of ${facts['rows'] ?? 0} stored rows`;
    case 'budget-exceeded':
      return `${teamOf(facts)} is above its budget of ${facts['month'] ?? ''}`;
    case 'restatement':
      return `${unitOf(facts, days)}: ${facts['column'] ?? ''} changed by ${percentOf(facts)} after it was stored`;
    case 'day-missing':
      return `${unitOf(facts, days)}: not stored after three days`;
  }
}

function endOf({ kind, facts }: NamedIncident, days: string): string {
  switch (kind) {
    case 'run-failed':
      return `the run no longer fails with exit code ${facts['exit_code'] ?? ''}`;
    case 'loss-doubted':
      return `${unitOf(facts, days)}: the loss is no longer doubted`;
    case 'budget-exceeded':
      return `${teamOf(facts)} is no longer above its budget of ${facts['month'] ?? ''}`;
    case 'restatement':
      return `${unitOf(facts, days)}: did not change again`;
    case 'day-missing':
      return `${unitOf(facts, days)}: stored`;
  }
}

function exitCodeOf(facts: IncidentFacts): string {
  const code = facts['exit_code'];
  return isExitCode(code) ? `${code}: ${describeExitCode(code)}` : String(code ?? '');
}

function unitOf({ stream = '' }: IncidentFacts, days: string): string {
  return days === '' ? String(stream) : `${stream} of ${days}`;
}

function teamOf({ team = '' }: IncidentFacts): string {
  return team === '' ? 'the organization' : `team ${publicName(String(team))}`;
}

function percentOf({ share }: IncidentFacts): string {
  return typeof share === 'number' ? `${Math.round(share * 100)} %` : '';
}
