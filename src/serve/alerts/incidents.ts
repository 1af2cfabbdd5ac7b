import { createHash } from 'node:crypto';
import type { OrganizationOutcome, RoundReport } from '../../../jobs/round.ts';
import { isDay, spansOf, type UtcDay } from '../../core/day.ts';
import { describeExitCode, isExitCode } from '../../core/exit-code.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { publicName } from '../../privacy/index.ts';

/** What a person is notified of, the most urgent first. */
const INCIDENT_KINDS = [
  'run-failed',
  'loss-doubted',
  'budget-exceeded',
  'restatement',
  'day-missing',
] as const;

/** One of {@link INCIDENT_KINDS}. */
type IncidentKind = (typeof INCIDENT_KINDS)[number];

/** The facts of an incident. They hold no text of the service. */
type IncidentFacts = Readonly<Record<string, string | number>>;

/** Something that is wrong at the end of a round. */
export interface Condition {
  readonly kind: IncidentKind;
  /** Names the same condition in every round: `tokens 2026-03-01`. */
  readonly key: string;
  readonly facts: IncidentFacts;
}

/** A condition that was found, from its first round until its end was reported. */
export interface Incident extends Condition {
  /** The same in every message about it. */
  readonly id: string;
  /** ISO instants of the rounds that found its beginning and its end. */
  readonly openedAt: string;
  readonly endedAt: string | null;
  /** True once its beginning was delivered. */
  readonly isReported: boolean;
}

/** What is remembered between rounds of one organization, or of the warehouse itself. */
export interface IncidentState {
  readonly incidents: readonly Incident[];
  /** Restatements up to this ISO instant were examined; null before the first round. */
  readonly restatedUntil: string | null;
}

/** The state before the first round. */
export const NO_INCIDENTS: IncidentState = { incidents: [], restatedUntil: null };

/** Identifies a condition among all of its scope. */
export function nameOfCondition({ kind, key }: Pick<Condition, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}

/** The ID of an incident: the same for the same condition and beginning. */
function idOfIncident(scope: string, condition: Condition, openedAt: string): string {
  const text = JSON.stringify([scope, nameOfCondition(condition), openedAt]);
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

/** The text of a state, as the warehouse stores it. */
export function stateText(state: IncidentState): string {
  return JSON.stringify(state);
}

/** The state in a text; what someone edited into something else is left out. */
export function parseState(text: string | null): IncidentState {
  const value = text === null ? undefined : parseJson(text);
  if (!isObject(value)) return NO_INCIDENTS;
  const { incidents, restatedUntil } = value;
  return {
    incidents: Array.isArray(incidents) ? incidents.flatMap(incidentIn) : [],
    restatedUntil: typeof restatedUntil === 'string' ? restatedUntil : null,
  };
}

function incidentIn(value: unknown): Incident[] {
  if (!isObject(value)) return [];
  const { id, key, openedAt, endedAt, isReported } = value;
  const kind = INCIDENT_KINDS.find((known) => known === value['kind']);
  if (kind === undefined || typeof id !== 'string' || typeof key !== 'string') return [];
  if (typeof openedAt !== 'string' || typeof isReported !== 'boolean') return [];
  const facts = isObject(value['facts']) ? value['facts'] : {};
  return [
    {
      ...{ id, kind, key, openedAt, isReported },
      endedAt: typeof endedAt === 'string' ? endedAt : null,
      facts: Object.fromEntries(Object.entries(facts).flatMap(factIn)),
    },
  ];
}

function factIn([name, fact]: [string, unknown]): [string, string | number][] {
  return typeof fact === 'string' || typeof fact === 'number' ? [[name, fact]] : [];
}

/*
 * The life of an incident. Each transition is a pure function from the state before to the state after.
 *
 *   (none) ──found──▶ open ──delivered──▶ open, reported ──not found──▶ ended, reported ──delivered──▶ (none)
 *                      └──not found──▶ ended ──delivered──▶ (none)      one message says both
 *   ended ──found──▶ open                                               nobody was notified of the end yet
 */

/** Incidents of one scope at most. Further conditions wait until there is room. */
export const INCIDENTS_MAX = 1_000;

/** What a round found out about one scope. */
export interface Examination {
  readonly conditions: readonly Condition[];
  /** True if the round would have found the condition of this incident. Other incidents stay as they are. */
  readonly hasExamined: (incident: Condition) => boolean;
  /** Replaces the remembered instant; absent to keep it. */
  readonly restatedUntil?: string;
}

/** The incidents that nobody was notified of yet. */
export interface Due {
  /** Began. They may have ended since. */
  readonly opened: readonly Incident[];
  /** Ended after their beginning was delivered. */
  readonly over: readonly Incident[];
}

/** Compares the incidents with what a round found at an instant: they begin, continue or end. */
export function applyExamination(
  before: IncidentState,
  { conditions, hasExamined, restatedUntil = before.restatedUntil ?? undefined }: Examination,
  { scope, at }: { readonly scope: string; readonly at: string },
): IncidentState {
  const found = new Map(conditions.map((condition) => [nameOfCondition(condition), condition]));
  const known = before.incidents.map((incident): Incident => {
    if (found.has(nameOfCondition(incident))) return { ...incident, endedAt: null };
    return incident.endedAt === null && hasExamined(incident) ? { ...incident, endedAt: at } : incident;
  });
  const names = new Set(known.map(nameOfCondition));
  const fresh = [...found.values()]
    .filter((condition) => !names.has(nameOfCondition(condition)))
    .toSorted(byUrgency)
    .slice(0, Math.max(0, INCIDENTS_MAX - known.length))
    .map((condition): Incident => {
      const { kind, key, facts } = condition;
      const id = idOfIncident(scope, condition, at);
      return { id, kind, key, facts, openedAt: at, endedAt: null, isReported: false };
    });
  return { incidents: [...known, ...fresh], restatedUntil: restatedUntil ?? null };
}

/** The incidents of a state that a message must contain. */
export function dueIn({ incidents }: IncidentState): Due {
  return {
    opened: incidents.filter(({ isReported }) => !isReported),
    over: incidents.filter(({ isReported, endedAt }) => isReported && endedAt !== null),
  };
}

/** A message with everything that was due was delivered. */
export function applyDelivery(before: IncidentState): IncidentState {
  const incidents = before.incidents
    .filter(({ endedAt }) => endedAt === null)
    .map((incident) => ({ ...incident, isReported: true }));
  return { ...before, incidents };
}

/**
 * Adds incidents that only this process remembers, because the stored state could not be read when they began. The same
 * condition may then have two incidents, and each is reported to its end.
 */
export function mergeStates(stored: IncidentState, own: IncidentState): IncidentState {
  const ids = new Set(own.incidents.map(({ id }) => id));
  return { ...stored, incidents: [...own.incidents, ...stored.incidents.filter(({ id }) => !ids.has(id))] };
}

function byUrgency(a: Condition, b: Condition): number {
  const rank = INCIDENT_KINDS.indexOf(a.kind) - INCIDENT_KINDS.indexOf(b.kind);
  return rank !== 0 ? rank : a.key < b.key ? -1 : 1;
}

/** The incidents of each list in a message. The counts include those that are left out. */
const LISTED_MAX = 50;

type WebhookFormat = 'json' | 'chat';

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
function publicFacts({ team, job, by_id, ...facts }: IncidentFacts): IncidentFacts {
  return team === undefined ? facts : { ...facts, team: publicName(String(team)) };
}

/** An incident with the name of its organization. */
export interface NamedIncident extends Incident {
  readonly organization: string;
  /** The organization is not exported any more. @default false */
  readonly hasLeft?: boolean;
}

/** Lines of each list in a text. */
const LINES_MAX = 20;

/** The text of a message, for people. */
function messageText(opened: readonly NamedIncident[], over: readonly NamedIncident[]): string {
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
      return `${unitOf(facts, days)}: ${facts['column'] ?? ''} changed by ${Math.round(Number(facts['share']) * 100)} % after it was stored`;
    case 'day-missing':
      return `${unitOf(facts, days)}: not stored after three days`;
  }
}

function endOf(incident: NamedIncident, days: string): string {
  const { kind, facts, hasLeft = false } = incident;
  if (hasLeft) return `not exported any more (${beginningOf(incident, days)})`;
  switch (kind) {
    case 'run-failed':
      return `the run no longer fails with exit code ${facts['exit_code'] ?? ''}`;
    case 'loss-doubted':
      return `${unitOf(facts, days)}: the loss is no longer doubted`;
    case 'budget-exceeded':
      return `${teamOf(facts)} is no longer above its budget of ${facts['month'] ?? ''}, or the next month has begun`;
    case 'restatement':
      return `${unitOf(facts, days)}: did not change again`;
    case 'day-missing':
      return `${unitOf(facts, days)}: stored, or no longer expected`;
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

/** The name of an organization in messages. */
export function nameOfOutcome({ name, orgId }: Pick<OrganizationOutcome, 'name' | 'orgId'>): string {
  return publicName(name ?? orgId ?? 'the organization');
}

/** An organization of the round, or '' for the warehouse itself. */
export interface Scope {
  readonly scope: string;
  /** Finds out what is wrong. Null if that cannot be found out in this round. */
  examine(before: IncidentState): Promise<Examination | null>;
}
