import { dayOf, daysBetween, type UtcDay } from '../core/day.ts';
import { canonicalJson } from '../core/json.ts';
import type { DailyStream } from '../core/stream.ts';
import { type CountedIdentity, doHold, hasWaited, type Violation, violationsOf } from './identities.ts';
import { countsAsLook, equalLooks, LOOKS, looksNeeded } from './looks.ts';
import { notesAfterSettling, notesText, parseNotes } from './notes.ts';

/**
 * An empty unit is pulled again while other streams of its day have activity, until the day is this old. Then it
 * settles unconfirmed.
 */
export const CONFIRM_DAYS = 31;
/** A record that says something impossible stops counting after this many UTC days, if the service keeps sending it. */
export const HELD_DAYS = 7;

/** The fields of a unit that {@link agree} reads or changes. */
interface Standing {
  readonly stream: string;
  readonly day: UtcDay;
  readonly state: string;
  readonly contentSha256: string | null;
  readonly firstLoadedAt: string | null;
  readonly lastPulledAt: string | null;
  /** Why the last pull failed; null if it did not. */
  readonly lastError: string | null;
  readonly settledAt: string | null;
  readonly confirmed: 'data' | 'agreed' | 'age' | null;
  readonly activeUsers: number | null;
  readonly watch: string | null;
}

/** The rule by which days settle. */
export interface SettleRule {
  /** The UTC day on which the run began. */
  readonly today: UtcDay;
  readonly settleDays: number;
  /**
   * Since when pulls without activity count, as an ISO instant; null if no row with activity was ever stored, so that
   * none counts.
   * @default every pull counts
   */
  readonly activeSince?: string | null;
  /** Equal looks that settle a unit. @default {@link LOOKS} */
  readonly looks?: number;
  /** The identities of the organization, see `countIdentities`. @default none */
  readonly identities?: readonly CountedIdentity[];
  /** The streams that are expected: no other one keeps a day from being empty. @default all */
  readonly streams?: readonly string[];
}

/** The units of a day, and the streams that were committed just now. */
interface DayOnRecord<Unit> {
  readonly day: UtcDay;
  /** The units of the day that the ledger has. */
  readonly units: readonly Unit[];
  readonly committed: ReadonlySet<string>;
}

/** The fields that settle a unit, or open it again. Absent fields do not change. */
type Settlement = Partial<Pick<Standing, 'state' | 'settledAt' | 'confirmed' | 'firstLoadedAt'>>;

/** Facts about all streams of a day. */
interface DayFacts {
  readonly day: UtcDay;
  readonly rule: SettleRule;
  /** Every stream that was pulled is empty, at the age at which days settle. */
  readonly isEmptyDay: boolean;
  readonly hasActive: boolean;
  readonly units: readonly Standing[];
  readonly committed: ReadonlySet<string>;
}

const OPEN = { settledAt: null, confirmed: null } as const;

/**
 * Settles the units of a day, or opens them again, after some of them changed. A unit settles once it is pulled at the
 * age of `settleDays`, if its last {@link LOOKS} looks equal what is stored. A unit without activity settles only if no other stream of the day has any.
 * While one does, the unit is pulled again until its day is {@link CONFIRM_DAYS} old. A stream that failed, is
 * doubted or is quarantined disagrees; one that was never pulled, or is not expected, does not count. No unit settles as empty before the
 * organization was ever active, nor by a pull from before. Units that
 * contradict each other wait, see `identities.ts`, and a unit with records in quarantine settles only once these are old.
 *
 * Pure, and the result does not depend on the order of commits. Returns all units, changed or not.
 */
export function agree<Unit extends Standing>(
  { day, units, committed }: DayOnRecord<Unit>,
  rule: SettleRule,
): Unit[] {
  const { streams } = rule;
  const pulled = units.filter(
    ({ state, stream }) =>
      state !== 'pending' && state !== 'expired' && (streams === undefined || streams.includes(stream)),
  );
  const isEmptyDay = pulled.every(
    (unit) =>
      isEmpty(unit) && (unit.settledAt !== null || (isRipe(unit, day, rule) && countsAsEmpty(unit, rule))),
  );
  const hasActive = pulled.some(({ state }) => state === 'loaded' || state === 'quarantined');
  const facts = { day, rule, isEmptyDay, hasActive, units, committed };
  const { identities = [] } = rule;
  // What the specification says is named also where it does not count.
  const named = identities.filter(({ counts, isSpecified }) => counts || isSpecified);
  const violations = violationsOf(units, named);
  return units.map((unit) => {
    if (isEmpty(unit)) return withSettlement(unit, settleEmpty(unit, facts));
    if (unit.state === 'quarantined')
      return withSettlement(unit, settleAged(unit, facts, committed.has(unit.stream)));
    if (unit.state !== 'loaded') return unit;
    const own = violations.filter(({ streams }) => streams.includes(unit.stream));
    if (own.length === 0 && isStillOdd(unit, units, identities)) return unit;
    const settlement = own.length > 0 ? settleOdd(unit, facts, own) : settleLoaded(unit, facts);
    return noteOdd(withSettlement(unit, settlement), own);
  });
}

/** A unit that settles needs its looks no longer. */
function withSettlement<Unit extends Standing>(unit: Unit, settlement: Settlement): Unit {
  const settles = unit.settledAt === null && (settlement.settledAt ?? null) !== null;
  return {
    ...unit,
    ...settlement,
    ...(settles ? { watch: notesAfterSettling(unit.watch, unit.contentSha256) } : {}),
  };
}

/** True if /users returned fewer people than `daily_active_users` of the day. */
export function isShortOf(
  unit: Pick<Standing, 'stream' | 'activeUsers'>,
  dailyActiveUsers: number | null,
): boolean {
  return (
    unit.stream === 'users' &&
    unit.activeUsers !== null &&
    dailyActiveUsers !== null &&
    unit.activeUsers < dailyActiveUsers
  );
}

/** True for a unit that was answered without activity. */
export function isEmpty({ state }: Pick<Standing, 'state'>): boolean {
  return state === 'awaiting' || state === 'empty';
}

function settleEmpty(unit: Standing, { day, rule, isEmptyDay, hasActive }: DayFacts): Settlement {
  const settled = {
    state: 'empty',
    settledAt: unit.settledAt ?? unit.lastPulledAt,
    firstLoadedAt: unit.firstLoadedAt ?? unit.lastPulledAt,
  };
  if (isEmptyDay) return { ...settled, confirmed: 'agreed' };
  const isOld = isRipe(unit, day, { ...rule, settleDays: Math.max(CONFIRM_DAYS, rule.settleDays) });
  const isOwn = parseNotes(unit.watch).own === unit.contentSha256;
  const isConfirmed = isOwn && countsAsEmpty(unit, rule);
  if (isSettledByAge(unit) || (hasActive && isOld && isConfirmed)) return { ...settled, confirmed: 'age' };
  return { state: 'awaiting', ...OPEN };
}

function settleLoaded(unit: Standing, { day, rule, committed }: DayFacts): Settlement {
  // It was in contradiction with another unit of the day, and no longer is.
  const wasOdd = parseNotes(unit.watch).odd !== undefined;
  if (isSettledByAge(unit) && wasOdd) return { confirmed: 'data' };
  const isConfirmed = unit.settledAt !== null || isSeenOften(unit, rule);
  const mayEnd = (committed.has(unit.stream) || wasOdd) && isConfirmed && isRipe(unit, day, rule);
  return mayEnd ? { settledAt: unit.lastPulledAt, confirmed: 'data' } : {};
}

/**
 * A unit that contradicts another one settles unconfirmed, once looks have found the same long enough, if the identity counts
 * for the organization. A settled one becomes unconfirmed and stays settled: otherwise one answer for another stream would let its
 * next answer count at once.
 */
function settleOdd(
  unit: Standing,
  { day, rule, committed }: DayFacts,
  violations: readonly Violation[],
): Settlement {
  if (unit.settledAt !== null) return { confirmed: 'age' };
  const mustWait = violations.some(({ counts }) => counts);
  const isWaitOver = !mustWait || hasWaited(parseNotes(unit.watch), unit.contentSha256);
  const mayEnd =
    committed.has(unit.stream) && isWaitOver && isSeenOften(unit, rule) && isRipe(unit, day, rule);
  return mayEnd ? { settledAt: unit.lastPulledAt, confirmed: 'age' } : OPEN;
}

/** True for a unit that settled in contradiction with another one, of which the figures are not known now. */
function isStillOdd(
  unit: Standing,
  units: readonly Standing[],
  identities: readonly CountedIdentity[],
): boolean {
  return isSettledByAge(unit) && !doHold(parseNotes(unit.watch).odd ?? [], units, identities);
}

/** Notes which identities a unit violates. */
function noteOdd<Unit extends Standing>(unit: Unit, violations: readonly Violation[]): Unit {
  const notes = parseNotes(unit.watch);
  const odd = violations.map(({ identity }) => identity);
  return canonicalJson(odd) === canonicalJson(notes.odd ?? [])
    ? unit
    : { ...unit, watch: notesText({ ...notes, odd }) };
}

/** A unit with records in quarantine settles only if the service keeps sending them. */
function settleAged(unit: Standing, { day, rule }: DayFacts, isCommitted: boolean): Settlement {
  const { heldSince } = parseNotes(unit.watch);
  const pulledOn = unit.lastPulledAt === null ? null : dayOf(new Date(unit.lastPulledAt));
  const isAged =
    heldSince !== undefined && pulledOn !== null && daysBetween(heldSince, pulledOn) >= HELD_DAYS;
  const mayEnd = isCommitted && isAged && isRipe(unit, day, rule);
  return mayEnd ? { settledAt: unit.lastPulledAt, confirmed: 'age' } : {};
}

function isSettledByAge({ confirmed }: Standing): boolean {
  return confirmed === 'age';
}

/**
 * True if enough looks in a row have found what is stored.
 * @param since the first day whose looks count. @default the first look
 */
function isSeenOften({ watch, contentSha256 }: Standing, { looks: needed }: SettleRule, since = ''): boolean {
  const notes = parseNotes(watch);
  const looks = (notes.looks ?? []).filter(([day]) => day >= since);
  return equalLooks({ looks }, contentSha256) >= (needed ?? looksNeeded(notes));
}

/** How a run asks again for a unit that has not settled. */
export type Asked =
  /** As long as the unit is young, or if something is unclear. */
  | 'pull'
  /** Nothing but a further look is missing, so that it comes last. */
  | 'look'
  /** A look would not count yet. */
  | 'not now';

/** Decides how a run that begins `now` asks for a unit of the ledger that has not settled. */
export function askAgain(
  {
    day,
    state,
    lastError,
    watch,
  }: Pick<Standing, 'state' | 'lastError' | 'watch'> & { readonly day: UtcDay },
  { now, settleDays }: { readonly now: Date; readonly settleDays: number },
): Asked {
  const age = daysBetween(day, dayOf(now));
  const notes = parseNotes(watch);
  const isClear = (state === 'loaded' || state === 'awaiting') && lastError === null && notes.due !== true;
  if (!isClear || age < settleDays || notes.looks === undefined) return 'pull';
  if (!countsAsLook(notes, now)) return 'not now';
  // The day that reaches the age at which days settle is pulled together with the young ones.
  return age > Math.max(settleDays, LOOKS) ? 'look' : 'pull';
}

/** True if the last answer came when the day was old enough to settle, and the unit was not reopened since. */
function isRipe(
  { lastPulledAt, lastError, watch }: Standing,
  day: UtcDay,
  { today, settleDays }: SettleRule,
): boolean {
  // A day that the service refused as too early is awaiting too, but nothing is known about it.
  if (lastPulledAt === null || lastError !== null || parseNotes(watch).due === true) return false;
  // A run that crosses midnight keeps the day on which it began.
  const pulledOn = dayOf(new Date(lastPulledAt));
  return daysBetween(day, pulledOn < today ? pulledOn : today) >= settleDays;
}

/** False if enough looks were not yet taken since the organization was active: a service without any data looks empty. */
function countsAsEmpty(unit: Standing, rule: SettleRule): boolean {
  const { activeSince } = rule;
  if (activeSince === undefined) return isSeenOften(unit, rule);
  if (activeSince === null || (unit.lastPulledAt ?? '') < activeSince) return false;
  return isSeenOften(unit, rule, dayOf(new Date(activeSince)));
}

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
interface RequestedAlone {
  readonly stream: DailyStream;
  readonly rule: 'streams-disagree' | 'fewer-users';
}

/** The requests that are needed before a day is judged. */
interface SecondLook {
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
