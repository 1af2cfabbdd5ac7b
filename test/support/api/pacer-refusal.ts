import type { Pause } from '../../../src/api/transport/pacer.ts';

/** A refusal that asks for a pause. */
export class Refusal extends Error {
  readonly pauseMs: number;
  constructor(pauseMs: number) {
    super('refused');
    this.pauseMs = pauseMs;
  }
}

/** What a pacer makes of a {@link Refusal}: too many requests. */
export function pauseOf(error: unknown): Pause | undefined {
  return error instanceof Refusal ? { pauseMs: error.pauseMs, cause: 'limit' } : undefined;
}
