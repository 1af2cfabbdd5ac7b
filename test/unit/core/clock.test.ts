import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';

describe('the clock of the machine', () => {
  it('shows the time, which advances', () => {
    const clock = systemClock();
    const before = Date.now();
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(before);
    expect(clock.now().getTime()).toBeLessThan(before + 5000);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(clock.monotonicMs());
  });

  it('can stand still at an instant, while durations stay real', async () => {
    const clock = systemClock(new Date('2026-03-01T00:00:00Z'));
    const started = clock.monotonicMs();
    await clock.sleep(20);
    expect(clock.now().toISOString()).toBe('2026-03-01T00:00:00.000Z');
    expect(clock.monotonicMs() - started).toBeGreaterThan(15);
  });

  it('returns a new Date object every time', () => {
    const clock = systemClock(new Date('2026-03-01T00:00:00Z'));
    clock.now().setFullYear(1970);
    expect(clock.now().getUTCFullYear()).toBe(2026);
  });

  it('ends a sleep with the reason of the abort, at once', async () => {
    const control = new AbortController();
    const reason = new Error('stop');
    const started = performance.now();
    const slept = systemClock().sleep(60_000, control.signal);
    control.abort(reason);
    await expect(slept).rejects.toBe(reason);
    await expect(systemClock().sleep(60_000, control.signal)).rejects.toBe(reason);
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});
