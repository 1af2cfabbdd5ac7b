import type { DailyStream } from '../core/stream.ts';

export interface UnitView {
  /**
   * The source: a range without a row for the day (`gap`), a range, the day's own answer, or the ledger, if the run
   * did not pull the unit.
   */
  readonly from: 'gap' | 'range' | 'own' | 'ledger';
  readonly isActive: boolean;
  /** Fewer users than `daily_active_users`. */
  readonly isShort: boolean;
}

export type DayView = ReadonlyMap<DailyStream, UnitView>;

/** A unit that must be requested alone, and the rule that says so. */
export interface RequestedAlone {
  readonly stream: DailyStream;
  readonly rule: 'streams-disagree' | 'fewer-users';
}

/** The requests that are needed before a day is judged. */
export interface SecondLook {
  readonly alone: readonly RequestedAlone[];
  /** The stream in which a gap is requested again, if no stream has activity. */
  readonly confirm: DailyStream | null;
  /** Streams whose gap is confirmed: the day has no activity in them. */
  readonly empty: readonly DailyStream[];
}

/** The streams in the order in which they confirm a gap: the smallest answers first. */
export const CONFIRMING: readonly DailyStream[] = ['activity', 'productivity', 'tools', 'users', 'tokens'];

const NOTHING: SecondLook = { alone: [], confirm: null, empty: [] };

/**
 * Decides which units of a day must be requested again. If some stream has activity, these are requested alone:
 * streams that a range shows without activity, and users if a range has fewer of them than `daily_active_users`. If
 * no stream has activity, a gap is requested again in one stream. That answer, or any answer for the day alone,
 * confirms the gap for all streams.
 * @param isConfirmed the gap was requested again and had no rows.
 */
export function secondLook(day: DayView, isConfirmed: boolean): SecondLook {
  const units = [...day];
  const hasActive = units.some(([, { isActive }]) => isActive);
  if (hasActive) return { ...NOTHING, alone: units.flatMap(([stream, unit]) => unclearUnit(stream, unit)) };
  const gaps = units.flatMap(([stream, { from }]) => (from === 'gap' ? [stream] : []));
  if (gaps.length === 0) return NOTHING;
  const isAnswered = isConfirmed || units.some(([, { from }]) => from === 'own');
  if (isAnswered) return { ...NOTHING, empty: gaps };
  return { ...NOTHING, confirm: CONFIRMING.find((stream) => gaps.includes(stream)) ?? null };
}

/** The unit, if a range shows it without activity or short of users while other streams have activity. */
function unclearUnit(stream: DailyStream, { from, isActive, isShort }: UnitView): RequestedAlone[] {
  if (from === 'own' || from === 'ledger') return [];
  if (!isActive) return [{ stream, rule: 'streams-disagree' }];
  return isShort ? [{ stream, rule: 'fewer-users' }] : [];
}
