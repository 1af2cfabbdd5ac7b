import { daysBetween, shiftDay, type UtcDay } from '../core/day.ts';
import type { RuleName } from '../core/rules.ts';
import { DAILY_STREAMS, type DailyStream } from '../core/stream.ts';
import { batchesOf } from '../pipeline/batch.ts';
import { isDayUnit, type LedgerUnit, type UnitState } from '../warehouse/port.ts';

/** Consecutive days that are missing or incomplete in some streams, all in the same state. */
export interface Hole {
  readonly state: Extract<UnitState, 'pending' | 'failed' | 'awaiting' | 'doubted' | 'quarantined'>;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly days: number;
  readonly streams: readonly DailyStream[];
}

/** Consecutive days that settled by their age alone. */
export interface UnconfirmedDays {
  readonly rule: RuleName;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly days: number;
  readonly streams: readonly DailyStream[];
}

/** Finds the holes of a stream. */
export function holesOf(
  stream: DailyStream,
  days: readonly UtcDay[],
  stateAt: (day: UtcDay) => UnitState,
): Hole[] {
  const holes: Hole[] = [];
  for (const day of days) {
    const state = stateAt(day);
    if (state === 'loaded' || state === 'empty') continue;
    const last = holes.at(-1);
    const firstDay =
      last !== undefined && last.state === state && shiftDay(last.lastDay, 1) === day ? last.firstDay : day;
    if (last !== undefined && firstDay !== day) holes.pop();
    holes.push({ state, firstDay, lastDay: day, days: daysBetween(firstDay, day) + 1, streams: [stream] });
  }
  return holes;
}

/** Merges holes of different streams that have the same days and state; oldest first. */
export function mergeHoles(holes: readonly Hole[]): Hole[] {
  const merged = new Map<string, Hole>();
  for (const hole of holes) {
    const name = `${hole.firstDay} ${hole.lastDay} ${hole.state}`;
    const streams = [...(merged.get(name)?.streams ?? []), ...hole.streams];
    merged.set(name, { ...hole, streams });
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, hole]) => hole);
}

/** Finds the days that settled although nothing confirmed their data. */
export function unconfirmedOf(units: readonly LedgerUnit[]): UnconfirmedDays[] {
  return DAILY_STREAMS.flatMap((stream) => {
    const own = units.filter(isDayUnit).filter((unit) => unit.stream === stream && unit.confirmed === 'age');
    const rules = ['streams-disagree', 'fewer-users'] as const;
    return rules.flatMap((rule) => {
      const days = own.flatMap(({ day, state }) =>
        (state === 'empty') === (rule === 'streams-disagree') ? [day] : [],
      );
      return batchesOf(stream, days, days.length).map((batch) => ({
        rule,
        firstDay: batch.days[0],
        lastDay: batch.days.at(-1) ?? batch.days[0],
        days: batch.days.length,
        streams: [stream],
      }));
    });
  });
}
