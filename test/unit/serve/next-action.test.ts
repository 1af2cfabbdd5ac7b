import { describe, expect, it } from 'vitest';
import { nextAction, parseSchedule, spread } from '../../../src/serve/schedule.ts';

const NIGHT = parseSchedule('0 3 * * *');
const MINUTE_MS = 60_000;
const at = (text: string) => new Date(`2026-03-${text}:00Z`);

describe('the next action', () => {
  const timetable = { next: NIGHT.next, delayMs: () => 10 * MINUTE_MS };

  it('is a run at once if there was none', () => {
    expect(nextAction(null, at('05T12:00'), timetable)).toEqual({ kind: 'run', tick: null });
  });

  it('waits for the tick and for its delay', () => {
    const wait = { kind: 'wait', tick: at('05T03:00'), until: at('05T03:10') };
    const last = at('04T03:10');
    expect(nextAction(last, at('04T03:11'), timetable)).toEqual(wait);
    expect(nextAction(last, at('05T03:09'), timetable)).toEqual(wait);
    expect(nextAction(last, at('05T03:10'), timetable)).toEqual({ kind: 'run', tick: at('05T03:00') });
  });

  it('does not wait for the delay of a tick if an older one was missed', () => {
    expect(nextAction(at('01T03:10'), at('05T03:01'), timetable)).toEqual({
      kind: 'run',
      tick: at('02T03:00'),
    });
  });

  it('repeats no tick after the clock was set back', () => {
    expect(nextAction(at('05T03:10'), at('05T02:00'), timetable)).toMatchObject({ tick: at('06T03:00') });
  });
});

describe('the delay of a tick', () => {
  const ticks = Array.from({ length: 200 }, (_, day) => new Date(Date.UTC(2026, 0, 1 + day, 3)));

  it('is the same for the same tick, and another for another installation', () => {
    const [one, again, other] = [0.25, 0.25, 0.75].map((seed) => ticks.map(spread(60_000, seed)));
    expect(again).toEqual(one);
    expect(other?.filter((delay, index) => delay === one?.[index])).toEqual([]);
  });

  it('is spread evenly, and always shorter than the jitter', () => {
    const delays = ticks.map(spread(60_000, 0.1));
    expect(delays.every((delay) => delay >= 0 && delay < 60_000)).toBe(true);
    const quarters = [0, 1, 2, 3].map(
      (quarter) => delays.filter((delay) => Math.floor(delay / 15_000) === quarter).length,
    );
    expect(Math.min(...quarters)).toBeGreaterThan(40);
  });
});
