import { nextPace, openPace, type Sent, untilNextMs } from '../../../src/http/pace.ts';
import type { Service } from './service.ts';

export interface Drive {
  readonly service: Service;
  /** Requests in flight at most, and workers that each have one request at a time. */
  readonly concurrency: number;
  readonly forMs: number;
  /** Counting begins here; until then the pace is being found. */
  readonly fromMs: number;
  readonly random: () => number;
}

export interface Outcome {
  readonly answered: number;
  readonly refused: number;
  /** Requests in flight at most, over the whole time. */
  readonly inFlightMax: number;
  /** The most that may be in flight at the end. */
  readonly limit: number;
}

/** A timer of a busy process fires this late at most, in milliseconds. */
const LATE_MS_MAX = 2;
const BACKOFF_MS = { base: 500, max: 30_000 };

interface Step {
  readonly atMs: number;
  run(): void;
}

/** Drives the pace machine against a simulated service in virtual time, with work for every worker at all times. */
export function simulate({ service, concurrency, forMs, fromMs, random }: Drive): Outcome {
  let pace = openPace(concurrency);
  let nowMs = 0;
  let inFlight = 0;
  const ready: number[] = Array.from({ length: concurrency }, () => 0);
  const steps: Step[] = [];
  const counts = { answered: 0, refused: 0, inFlightMax: 0 };

  function at(atMs: number, run: () => void): void {
    let index = steps.length;
    while (index > 0 && (steps[index - 1]?.atMs ?? 0) < atMs) index -= 1;
    steps.splice(index, 0, { atMs, run });
  }

  function send(attempt: number): void {
    pace = nextPace(pace, { type: 'sent', atMs: nowMs });
    inFlight += 1;
    counts.inFlightMax = Math.max(counts.inFlightMax, inFlight);
    const request: Sent = { epoch: pace.epoch, inFlight };
    const isCounted = nowMs >= fromMs;
    const { isRefused, pauseMs, cause, afterMs } = service.answer(nowMs);
    at(nowMs + afterMs, () => {
      service.ended(isRefused);
      const event = isRefused
        ? ({ type: 'refused', atMs: nowMs, request, inFlight, pauseMs, cause } as const)
        : ({ type: 'answered', atMs: nowMs, request } as const);
      pace = nextPace(pace, event);
      inFlight -= 1;
      if (isCounted) counts[isRefused ? 'refused' : 'answered'] += 1;
      if (!isRefused) ready.push(0);
      else {
        const backOffMs = random() * Math.min(BACKOFF_MS.max, BACKOFF_MS.base * 2 ** attempt);
        at(nowMs + pauseMs + backOffMs, () => ready.push(attempt + 1));
      }
    });
  }

  while (nowMs < forMs) {
    const waitMs = untilNextMs(pace, nowMs);
    const mayBegin = ready.length > 0 && inFlight < pace.flight.limit;
    const attempt = mayBegin && waitMs === 0 ? ready.shift() : undefined;
    if (attempt !== undefined) {
      send(attempt);
      continue;
    }
    const next = steps.at(-1);
    const turnMs = mayBegin ? nowMs + waitMs + random() * LATE_MS_MAX : Number.POSITIVE_INFINITY;
    if (next === undefined || turnMs < next.atMs) nowMs = turnMs;
    else {
      steps.pop();
      nowMs = Math.max(nowMs, next.atMs);
      next.run();
    }
  }
  return { ...counts, limit: pace.flight.limit };
}
