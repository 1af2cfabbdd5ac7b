import { daysBetween, daysFrom, FIRST_DAY, shiftDay, spansOf, type UtcDay } from '../core/day.ts';
import type { RuleName } from '../core/errors.ts';
import { DAILY_STREAMS, type DailyStream, type Stream } from '../core/stream.ts';
import { parseNotes } from '../judge/notes.ts';
import { isStored } from '../metrics/index.ts';
import { isDayUnit, type LedgerDay, type LedgerUnit, type UnitState, unitName } from '../units/index.ts';

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
  /** The identities that they violate. @default none are known */
  readonly identities?: readonly string[];
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
  const unconfirmed = units
    .filter(isDayUnit)
    .filter(({ confirmed, state }) => confirmed === 'age' && state !== 'quarantined');
  return DAILY_STREAMS.flatMap((stream) => {
    const own = unconfirmed.filter((unit) => unit.stream === stream);
    const rules = ['streams-disagree', 'figures-disagree'] as const;
    return rules.flatMap((rule) => {
      const days = own.flatMap(({ day, state }) =>
        (state === 'empty') === (rule === 'streams-disagree') ? [day] : [],
      );
      return spansOf(days.toSorted()).map(({ from, until }) => {
        const odd = own.flatMap(({ day, watch }) =>
          day >= from && day <= until ? (parseNotes(watch).odd ?? []) : [],
        );
        return {
          rule,
          firstDay: from,
          lastDay: until,
          days: daysBetween(from, until) + 1,
          streams: [stream],
          ...(rule === 'figures-disagree' && odd.length > 0 && { identities: [...new Set(odd)] }),
        };
      });
    });
  });
}

/** A day that is missing this many days after its end needs a person: the nightly runs have not brought it. */
export const MISSING_AFTER_DAYS = 3;

/** A day of a stream that is missing, and why: nobody has pulled it, or every pull of it has failed. */
interface MissingDay {
  readonly stream: DailyStream;
  readonly day: UtcDay;
  readonly state: 'pending' | 'failed';
}

/**
 * The days from the first day of the service that ended at least {@link MISSING_AFTER_DAYS} days before `today` and are not
 * stored, by stream, oldest first. An awaiting unit is not missing: the service has answered that it is idle. Neither is
 * one that failed after an earlier pull had stored it. Metrics and notifications share this rule.
 */
export function missingDays(units: readonly LedgerUnit[], today: UtcDay): MissingDay[] {
  const ledger = new Map(units.filter(isDayUnit).map((unit) => [unitName(unit), unit]));
  const days = daysFrom(FIRST_DAY, shiftDay(today, -MISSING_AFTER_DAYS - 1));
  return DAILY_STREAMS.flatMap((stream) =>
    days.flatMap((day): MissingDay[] => {
      const state = whyMissing(ledger.get(unitName({ stream, day })));
      return state === null ? [] : [{ stream, day, state }];
    }),
  );
}

function whyMissing(unit: LedgerDay | undefined): MissingDay['state'] | null {
  if (unit === undefined) return 'pending';
  const { state } = unit;
  return (state === 'pending' || state === 'failed') && !isStored(unit) ? state : null;
}

/** The days on which a stream has stored activity, oldest first. */
export function daysWithData(units: readonly LedgerUnit[], stream: Stream): UtcDay[] {
  return units
    .filter(isDayUnit)
    .filter((unit) => unit.stream === stream && hasActivity(unit))
    .map(({ day }) => day)
    .sort();
}

/** Rows of zeros are not activity. A failed or doubted unit keeps the rows that it had. */
function hasActivity({ state, rows }: LedgerUnit): boolean {
  return rows > 0 && state !== 'empty' && state !== 'awaiting';
}
