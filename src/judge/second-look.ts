import type { DailyStream } from '../core/stream.ts';

/** What a run knows of one unit of a day. */
export interface UnitView {
  /**
   * Where it is from: no row in a range of days; a range; the day's own answer in this run; or the ledger, which the run
   * did not ask about.
   */
  readonly from: 'gap' | 'range' | 'own' | 'ledger';
  readonly isActive: boolean;
  /** Fewer users than the service counts as active. */
  readonly isShort: boolean;
}

/** What a run knows of a day. */
export type DayView = ReadonlyMap<DailyStream, UnitView>;

/** A stream to be asked about a day alone, and by which rule. */
export interface AskedAlone {
  readonly stream: DailyStream;
  readonly rule: 'streams-disagree' | 'fewer-users';
}

/** What is to be done about a day before it is judged. */
export interface SecondLook {
  readonly alone: readonly AskedAlone[];
  /** The stream that is to be asked again about a gap, which no stream contradicts. */
  readonly confirm: DailyStream | null;
  /** Streams whose gap is confirmed: they have no activity on the day. */
  readonly empty: readonly DailyStream[];
}

/** The streams in the order in which they are asked about a gap: the smallest answers first. */
export const CONFIRMING: readonly DailyStream[] = ['activity', 'productivity', 'tools', 'users', 'tokens'];

const NOTHING: SecondLook = { alone: [], confirm: null, empty: [] };

/**
 * Decides which units of a day must be looked at once more. Where some stream has activity, those that a range shows
 * without any are asked alone, and so are users whom a range shows fewer of than were active. Where none has, a gap is
 * asked for again in one stream; that answer, or any other about the day alone, confirms it for all.
 * @param isConfirmed the gap was asked for again, and had no rows.
 */
export function secondLook(day: DayView, isConfirmed: boolean): SecondLook {
  const units = [...day];
  const hasActive = units.some(([, { isActive }]) => isActive);
  if (hasActive) return { ...NOTHING, alone: units.flatMap(([stream, unit]) => askedAlone(stream, unit)) };
  const gaps = units.flatMap(([stream, { from }]) => (from === 'gap' ? [stream] : []));
  if (gaps.length === 0) return NOTHING;
  const isAnswered = isConfirmed || units.some(([, { from }]) => from === 'own');
  if (isAnswered) return { ...NOTHING, empty: gaps };
  return { ...NOTHING, confirm: CONFIRMING.find((stream) => gaps.includes(stream)) ?? null };
}

/** What a range shows without activity, or short of users, beside streams that have some. */
function askedAlone(stream: DailyStream, { from, isActive, isShort }: UnitView): AskedAlone[] {
  if (from === 'own' || from === 'ledger') return [];
  if (!isActive) return [{ stream, rule: 'streams-disagree' }];
  return isShort ? [{ stream, rule: 'fewer-users' }] : [];
}
