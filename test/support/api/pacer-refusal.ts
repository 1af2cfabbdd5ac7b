import type { Pause } from '../../../src/http/pace.ts';

/** A refusal that requests a pause. */
export class Refusal extends Error {
  readonly pauseMs: number;
  constructor(pauseMs: number) {
    super('refused');
    this.pauseMs = pauseMs;
  }
}

/** Reads a {@link Refusal} as "too many requests". */
export function pauseOf(error: unknown): Pause | undefined {
  return error instanceof Refusal ? { pauseMs: error.pauseMs, cause: 'limit' } : undefined;
}
