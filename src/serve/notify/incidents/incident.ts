import { createHash } from 'node:crypto';
import { isObject, parseJson } from '../../../core/json.ts';

/** What a person is notified of, the most urgent first. */
export const INCIDENT_KINDS = [
  'run-failed',
  'loss-doubted',
  'budget-exceeded',
  'restatement',
  'day-missing',
] as const;

/** One of {@link INCIDENT_KINDS}. */
export type IncidentKind = (typeof INCIDENT_KINDS)[number];

/** The facts of an incident. They hold no text of the service. */
export type IncidentFacts = Readonly<Record<string, string | number>>;

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
export function idOfIncident(scope: string, condition: Condition, openedAt: string): string {
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
