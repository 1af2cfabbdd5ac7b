/** The pause before a probe in milliseconds: it doubles with every probe that fails, from `first` up to `max`. */
export const PROBE_PAUSE_MS = { first: 1_000, max: 30_000 } as const;

/**
 * Whether a host answers. Instants are in milliseconds of a clock that never goes back.
 *
 * | state | meaning | next state |
 * |---|---|---|
 * | `answering` | the host was not heard to fail since its last answer | a request fails: `suspected` |
 * | `suspected` | requests have failed since the last answer | an answer: `answering`; a request has failed in all its attempts: `checking`, or `over` if no patience is left |
 * | `checking` | a probe shows whether the host fails, or only that request; others go on | any answer: `answering`; the probe fails: `waiting` |
 * | `waiting` | only probes are sent, one at a time | a probe is answered: `answering`; the patience ends: `over`; the wait is left: `suspected` |
 * | `over` | no patience is left | an answer: `answering` |
 */
export type Outage = {
  /** How long this host was waited for so far. */
  readonly spentMs: number;
} & (
  | { readonly state: 'answering' }
  | { readonly state: 'suspected'; readonly sinceMs: number }
  | {
      readonly state: 'checking' | 'waiting';
      /** The first failure since the last answer. */
      readonly sinceMs: number;
      readonly beganMs: number;
      /** The end of the patience. */
      readonly untilMs: number;
      /** No probe begins before this instant. */
      readonly nextMs: number;
      /** Probes that have failed. */
      readonly failed: number;
    }
  | { readonly state: 'over' }
);

/** What happens to requests to the host. */
export type OutageEvent = {
  readonly atMs: number;
} /** @param sentMs when the answered request was sent: an answer to an earlier one says nothing about the host now */ & (
  | { readonly type: 'answered'; readonly sentMs: number }
  /** A request failed in a way that an outage may cause. */
  | { readonly type: 'failed' }
  | {
      /** A request has failed in all its attempts. */
      readonly type: 'gave-up';
      /** Its failure before the last one; its only failure if it had one attempt. */
      readonly sinceMs: number;
      /** How long the host may be waited for in sum. */
      readonly patienceMs: number;
      /** When waiting ends in any case. */
      readonly endMs: number;
    }
  /** @param pauseMs the pause that the host asks for; 0 if it names none */
  | { readonly type: 'probe-failed'; readonly pauseMs: number }
  | { readonly type: 'probe-answered' }
  /** Nothing but time has passed. */
  | { readonly type: 'passed' }
  /** Nobody waits any more: the run ends for another reason. */
  | { readonly type: 'left' }
);

/** A host about which nothing is known. */
export const ANSWERING: Outage = { state: 'answering', spentMs: 0 };

/** Whether the host answers after an event. Pure. */
export function nextOutage(outage: Outage, event: OutageEvent): Outage {
  if (isWait(outage)) return nextOfWait(outage, event);
  const { spentMs } = outage;
  switch (event.type) {
    case 'answered':
      return { state: 'answering', spentMs };
    case 'failed':
      return outage.state === 'answering' ? { state: 'suspected', spentMs, sinceMs: event.atMs } : outage;
    case 'gave-up':
      return afterLastAttempt(outage, event);
    default:
      return outage;
  }
}

function afterLastAttempt(outage: Outage, event: Extract<OutageEvent, { type: 'gave-up' }>): Outage {
  // The host has answered between the two failures, so it is the request that fails.
  if (outage.state !== 'suspected' || event.sinceMs < outage.sinceMs) return outage;
  const { spentMs, sinceMs } = outage;
  const { atMs } = event;
  const untilMs = Math.min(atMs + event.patienceMs - spentMs, event.endMs);
  if (untilMs <= atMs) return { state: 'over', spentMs };
  return { state: 'checking', spentMs, sinceMs, beganMs: atMs, untilMs, nextMs: atMs, failed: 0 };
}

/** A host that is being waited for, or may have to be. */
export type OutageWait = Extract<Outage, { readonly untilMs: number }>;

/** True while probes are sent. */
export function isWait(outage: Outage): outage is OutageWait {
  return 'untilMs' in outage;
}

/** Requests that were sent before a wait say nothing about the host now: only probes end it. */
function nextOfWait(wait: OutageWait, event: OutageEvent): Outage {
  const { atMs } = event;
  const spentMs = wait.spentMs + Math.max(0, Math.min(atMs, wait.untilMs) - wait.beganMs);
  const isAnswered = wait.state === 'checking' && event.type === 'answered' && event.sentMs >= wait.beganMs;
  if (event.type === 'probe-answered' || isAnswered) return { state: 'answering', spentMs };
  if (event.type === 'left') return { state: 'suspected', spentMs, sinceMs: wait.sinceMs };
  if (atMs >= wait.untilMs) return { state: 'over', spentMs };
  if (event.type !== 'probe-failed') return wait;
  const failed = wait.failed + 1;
  const pauseMs = Math.min(PROBE_PAUSE_MS.max, PROBE_PAUSE_MS.first * 2 ** (failed - 1));
  return { ...wait, state: 'waiting', failed, nextMs: atMs + Math.max(pauseMs, event.pauseMs) };
}
