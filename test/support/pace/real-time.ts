import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import { StoppedError } from '../../../src/core/errors.ts';
import type { Quirks } from '../../../src/emulator/quirks.ts';
import { createRig, type Rig } from '../rig/rig.ts';

const WARM_UP_MS = 10_000;
const TODAY = parseDay('2026-12-31');

interface Measured {
  readonly acceptedPerMinute: number;
  readonly refusedShare: number;
}

/** Counts the answers of a run from its eleventh second on, then stops it. */
export async function measure(
  rig: Rig,
  { concurrency, forMs }: { concurrency: number; forMs: number },
): Promise<Measured> {
  const control = new AbortController();
  const settings = { concurrency, rangeDays: 1, attempts: 20 };
  const ran = rig.run({ now: TODAY, settings, signal: control.signal });
  const counts = () => {
    const { byStatus } = rig.emulator.journal();
    return { accepted: byStatus['200'] ?? 0, refused: byStatus['429'] ?? 0, atMs: performance.now() };
  };
  await delay(WARM_UP_MS);
  const from = counts();
  await delay(forMs);
  const until = counts();
  control.abort(new StoppedError('SIGTERM'));
  const { report } = await ran;
  expect(report).toMatchObject({ exitCode: 143, unitsFailed: 0 });
  const accepted = until.accepted - from.accepted;
  const refused = until.refused - from.refused;
  return {
    acceptedPerMinute: (accepted / (until.atMs - from.atMs)) * 60_000,
    refusedShare: refused / Math.max(1, accepted + refused),
  };
}

/** A year with many pages, so that no run ends before it is stopped. */
export const yearOf = (quirks: Partial<Quirks>, latencyMs = 0) =>
  createRig({ today: TODAY, users: 100, latencyMs, quirks: { usersLimitCap: 2, ...quirks } });

/** A limit of the service, and what a run makes of it. */
export interface Paced extends Measured {
  readonly what: string;
  /** Requests per minute that could be used. */
  readonly allowed: number;
  /** The share of them that must be. */
  readonly share: number;
  /** Refusals: without any, the limit was never met. */
  readonly refusals: number;
}

/** How often the service has refused a request. */
export const refusalsOf = ({ emulator }: Rig): number => emulator.journal().byStatus['429'] ?? 0;

/** Prints and examines what runs made of their limits. */
export function expectPaced(all: readonly Paced[]): void {
  for (const { what, allowed, share, refusals, acceptedPerMinute, refusedShare } of all) {
    const used = acceptedPerMinute / allowed;
    process.stdout.write(
      `pace: ${what}: ${(100 * used).toFixed(1)} % of the allowed rate, ${(100 * refusedShare).toFixed(2)} % refused\n`,
    );
    expect.soft(refusals, `${what}: the limit was met`).toBeGreaterThan(0);
    expect.soft(used, what).toBeGreaterThanOrEqual(share);
    expect.soft(refusedShare, what).toBeLessThan(0.05);
  }
}
