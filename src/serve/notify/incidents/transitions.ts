import {
  type Condition,
  INCIDENT_KINDS,
  type Incident,
  type IncidentState,
  idOfIncident,
  nameOfCondition,
} from './incident.ts';

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
