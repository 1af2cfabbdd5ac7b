import { dayOf, daysBetween, shiftDay, type UtcDay } from '../core/day.ts';
import { EXIT, type ExitCode } from '../core/exit-code.ts';
import { HELD_DAYS } from '../judge/agreement.ts';
import {
  ACCEPT_AFTER_MS,
  ACCEPT_LOOKS,
  awaitsLeavers,
  parseDoubt,
  type StandingDoubt,
} from '../judge/doubt.ts';
import { FLAPPING_NAMED_DAYS, type Flapping, isFlappingNow, looksMinOf } from '../judge/flapping.ts';
import { IDENTITY_DAYS, waitedDays } from '../judge/identities.ts';
import { equalLooks, inOrder, LOOKS, type Look, looksNeeded } from '../judge/looks.ts';
import { isMassNow, type Mass } from '../judge/mass.ts';
import { isMostMissing } from '../judge/missing-reports.ts';
import { isUnstableUnit, parseNotes } from '../judge/notes.ts';
import type { LeftOut } from '../judge/watch-plan.ts';
import type { OpenRecords } from '../ledger/index.ts';
import { dateOf, isDayUnit, type LedgerDay, type LedgerUnit } from '../units/index.ts';

/**
 * What is open in a warehouse, the most urgent first:
 *
 * - `quarantined`: records that cannot be read.
 * - `mass`: many settled days began to differ from the service at once.
 * - `flapping`: answers of several days go back and forth, so that every change needs more looks.
 * - `unstable`: the answers of units go back and forth; what is stored of settled ones stays.
 * - `impossible`: records that say what cannot be true; the stored rows of their keys stay.
 * - `doubted`: days whose newest response lacks stored rows.
 * - `most-reports-missing`: the list lacks more than half of the stored readiness reports.
 * - `reports-missing`: the list lacks some of them.
 * - `leavers`: days that lack a few users, as if these had left.
 * - `figures-disagree`: units of days whose streams contradict each other in numbers.
 * - `never-active`: empty days of an organization in which no activity was ever seen.
 * - `seen-otherwise`: settled units that differ from the service, until enough looks have found the same.
 * - `first-looks`: units that were old when a run first saw them or that have changed since, and have been seen too few times to settle.
 * - `left-out`: units that were to be compared or seen once more, and for which the last run had no requests.
 */
export const OPEN_STATES = [
  'quarantined',
  'mass',
  'flapping',
  'unstable',
  'impossible',
  'doubted',
  'most-reports-missing',
  'reports-missing',
  'leavers',
  'figures-disagree',
  'never-active',
  'seen-otherwise',
  'first-looks',
  'left-out',
] as const;

/** One of {@link OPEN_STATES}. */
export type OpenStateName = (typeof OPEN_STATES)[number];

/** Something that lasts until a response, time or a person ends it. */
export interface OpenState {
  readonly state: OpenStateName;
  /** A run exits with this code while it lasts, unless something worse happens. */
  readonly exitCode: ExitCode;
  /** How many units; of the quarantine how many records, of the readiness list how many reports. */
  readonly count: number;
  /** The days that it is about; null if it is about readiness reports only. */
  readonly firstDay: UtcDay | null;
  readonly lastDay: UtcDay | null;
  /** When the oldest of it began, as an ISO instant. */
  readonly since: string;
  /** On how many UTC days the newest of it was seen, and how many end it; null if no number does. */
  readonly looks: { readonly soFar: number; readonly needed: number } | null;
  /** The first day on which a run can end all of it if the responses stay as they are; null if none can. */
  readonly endsOn: UtcDay | null;
}

/** What {@link openStatesOf} judges. */
export interface OpenFacts {
  /** All units of the organization. */
  readonly units: readonly LedgerUnit[];
  /** Its records in quarantine that count for the exit code. */
  readonly records: readonly OpenRecords[];
  /** True if no activity of it was ever stored. */
  readonly isNeverActive: boolean;
  /** Whether the service alternates between answers. @default it does not */
  readonly flapping?: Flapping | null;
  /** Whether many settled days differ at once. @default they do not */
  readonly mass?: Mass | undefined;
  /** What the last run of each job had no requests for. @default nothing */
  readonly leftOut?: readonly LeftOut[];
  readonly today: UtcDay;
}

/** The states that are open, the most urgent first. Pure. */
export function openStatesOf(facts: OpenFacts): OpenState[] {
  const days = facts.units.filter(isDayUnit);
  const readiness = facts.units.find(({ stream }) => stream === 'readiness');
  const isDoubtOfDay = (unit: LedgerDay) => !awaitsLeavers(unit);
  const found = [
    ...quarantined(facts),
    ...doubted(days.filter(isDoubtOfDay), facts),
    ...leavers(days.filter(awaitsLeavers), facts),
    ...missingReports(readiness, facts),
    ...(facts.isNeverActive ? neverActive(days) : []),
    ...waiting(days, facts),
    ...mass(days, facts),
    ...flapping(days, facts),
    ...leftOut(facts),
  ];
  const rank = ({ state }: OpenState) => OPEN_STATES.indexOf(state);
  const next = nextNight(facts);
  return found.map((open) => notBefore(next, open)).toSorted((a, b) => rank(a) - rank(b));
}

/** The day of the next run: today, unless a run has pulled something today. */
function nextNight({ units, today }: OpenFacts): UtcDay {
  const ran = units.some(({ lastPulledAt }) => lastPulledAt !== null && lastPulledAt >= today);
  return ran ? shiftDay(today, 1) : today;
}

/** States that end when time has passed, whatever runs have seen meanwhile. */
const BY_TIME: ReadonlySet<OpenStateName> = new Set(['figures-disagree', 'impossible']);

/** What was not seen for some nights ends later than its last look says: never before the looks that it still needs. */
function notBefore(next: UtcDay, open: OpenState): OpenState {
  const { state, looks, endsOn } = open;
  if (endsOn === null) return open;
  const lacking = looks === null || BY_TIME.has(state) ? 1 : Math.max(1, looks.needed - looks.soFar);
  const earliest = shiftDay(next, lacking - 1);
  return { ...open, endsOn: endsOn < earliest ? earliest : endsOn };
}

/** Of a unit whose records only say what cannot be true, the ledger notes since when: it settles with them. */
function quarantined({ units, records, today }: OpenFacts): OpenState[] {
  const held = new Map<string, UtcDay>();
  for (const unit of units) {
    const { heldSince } = parseNotes(unit.watch);
    if (heldSince !== undefined) held.set(`${unit.stream} ${dateOf(unit)}`, heldSince);
  }
  const sinceOf = ({ stream, day }: OpenRecords) => held.get(`${stream} ${day}`);
  const impossible = records.filter((each) => sinceOf(each) !== undefined);
  const others = records.filter((each) => sinceOf(each) === undefined);
  const newest = lastOf(impossible.map(sinceOf));
  const soFar = newest === null ? 0 : Math.min(HELD_DAYS, Math.max(0, daysBetween(newest, today)));
  const endsOn = newest === null ? null : shiftDay(newest, HELD_DAYS);
  return [
    ...recordsIn('quarantined', others, { looks: null, endsOn: null }),
    ...recordsIn('impossible', impossible, { looks: { soFar, needed: HELD_DAYS }, endsOn }),
  ];
}

function recordsIn(
  state: OpenStateName,
  records: readonly OpenRecords[],
  end: Pick<OpenState, 'looks' | 'endsOn'>,
): OpenState[] {
  const since = firstOf(records.map((each) => each.since));
  if (since === null) return [];
  const count = records.reduce((sum, each) => sum + each.records, 0);
  const days = records.flatMap(({ day }) => (day === '' ? [] : [day]));
  return [{ state, exitCode: EXIT.quarantine, count, ...spanOf(days), since, ...end }];
}

function doubted(units: readonly LedgerDay[], { today }: OpenFacts): OpenState[] {
  const found = units.flatMap((unit) => {
    const doubt = unit.state === 'doubted' ? parseDoubt(unit.doubt, unit.doubtedAt) : null;
    return doubt === null ? [] : [{ day: unit.day, doubt }];
  });
  const newest = found.map(({ doubt }) => doubt).toSorted((a, b) => (a.since < b.since ? 1 : -1))[0];
  const since = firstOf(found.map(({ doubt }) => doubt.since));
  if (newest === undefined || since === null) return [];
  const end = { looks: looksOf(newest, ACCEPT_LOOKS, today), endsOn: acceptedOn(newest) };
  const span = spanOf(found.map(({ day }) => day));
  return [{ state: 'doubted', exitCode: EXIT.quarantine, count: found.length, ...span, since, ...end }];
}

/** Users are gone after so many equal looks as any other change; then the day waits because it has too few users. */
function leavers(units: readonly LedgerDay[], facts: OpenFacts): OpenState[] {
  return doubted(units, facts).map((open) => ({
    ...open,
    state: 'leavers',
    exitCode: EXIT.ok,
    endsOn: shiftDay(dayOf(new Date(open.since)), LOOKS - 1),
  }));
}

function missingReports(readiness: LedgerUnit | undefined, { today }: OpenFacts): OpenState[] {
  const doubt = readiness === undefined ? null : parseDoubt(readiness.doubt, readiness.doubtedAt);
  if (doubt === null) return [];
  const { rows: count, since, later = {} } = doubt;
  // A report that was missed later waits longer.
  const newest = { ...doubt, since: lastOf([since, ...Object.values(later)]) ?? since };
  const days = { firstDay: null, lastDay: null };
  if (isMostMissing(doubt)) {
    const end = { looks: looksOf(newest, ACCEPT_LOOKS, today), endsOn: acceptedOn(newest) };
    return [{ state: 'most-reports-missing', exitCode: EXIT.quarantine, count, ...days, since, ...end }];
  }
  const end = { looks: looksOf(newest, 2, today), endsOn: shiftDay(dayOf(new Date(newest.since)), 1) };
  return [{ state: 'reports-missing', exitCode: EXIT.ok, count, ...days, since, ...end }];
}

function neverActive(units: readonly LedgerDay[]): OpenState[] {
  const waiting = units.filter(({ state }) => state === 'awaiting');
  const since = firstOf(
    waiting.map(({ firstLoadedAt, lastPulledAt }) => firstLoadedAt ?? lastPulledAt ?? ''),
  );
  if (since === null) return [];
  const span = spanOf(waiting.map(({ day }) => day));
  const count = waiting.length;
  return [{ state: 'never-active', exitCode: EXIT.ok, count, ...span, since, looks: null, endsOn: null }];
}

/** Units that wait for further looks, by what they wait for. */
function waiting(units: readonly LedgerDay[], { flapping: known = null, today }: OpenFacts): OpenState[] {
  const looksMin = looksMinOf(known, today);
  const found = units.flatMap((unit) => waitingUnit(unit, looksMin));
  const groups = Map.groupBy(found, ({ state }) => state);
  return [...groups].flatMap(([state, own]): OpenState[] => {
    const [last] = own.toSorted((a, b) => lacking(b.looks) - lacking(a.looks));
    const since = firstOf(own.map((unit) => unit.since));
    if (last === undefined || since === null) return [];
    const span = spanOf(own.map(({ day }) => day));
    const exitCode = state === 'unstable' ? EXIT.quarantine : EXIT.ok;
    const endsOn = lastOf(own.map((unit) => unit.endsOn));
    const end = { looks: last.looks, endsOn };
    return [{ state, exitCode, count: own.length, ...span, since: `${since}T00:00:00.000Z`, ...end }];
  });
}

interface WaitingUnit {
  readonly state: 'unstable' | 'figures-disagree' | 'seen-otherwise' | 'first-looks';
  readonly day: UtcDay;
  /** The day of its first look. */
  readonly since: UtcDay;
  readonly looks: { readonly soFar: number; readonly needed: number };
  readonly endsOn: UtcDay;
}

/** @param looksMin equal looks that every change needs. */
function waitingUnit(unit: LedgerDay, looksMin: number): WaitingUnit[] {
  const { day, settledAt, contentSha256 } = unit;
  const notes = parseNotes(unit.watch);
  const [first] = inOrder(notes.looks ?? []);
  const newest = notes.looks?.at(-1);
  if (first === undefined || newest === undefined) return [];
  const isSettled = settledAt !== null;
  const isUnstable = isUnstableUnit(unit);
  if (!isUnstable && isOdd(unit, newest[0])) return [oddUnit(unit, newest)];
  const state = isUnstable ? 'unstable' : isSettled ? 'seen-otherwise' : 'first-looks';
  if (state === 'first-looks' && !isLate(unit, newest[0])) return [];
  const isStored = isSettled && contentSha256?.startsWith(newest[1]) === true;
  const needed = Math.max(looksMin, looksNeeded(notes, isSettled ? contentSha256 : null));
  const looks = { soFar: equalLooks(notes, newest[1]), needed: isStored ? LOOKS : needed };
  const endsOn = shiftDay(newest[0], Math.max(1, looks.needed - looks.soFar));
  return [{ state, day, since: first[0], looks, endsOn }];
}

/** True for a unit that waits because it contradicts, or would begin to contradict, another one of its day. */
function isOdd({ day, state, settledAt, watch }: LedgerDay, lookedOn: UtcDay): boolean {
  const { odd = [], breaks = [] } = parseNotes(watch);
  if (settledAt !== null) return breaks.length > 0;
  return state === 'loaded' && odd.length > 0 && daysBetween(day, lookedOn) >= LOOKS;
}

function oddUnit({ day, watch }: LedgerDay, [lookedOn, digest]: Look): WaitingUnit {
  const notes = parseNotes(watch);
  const soFar = Math.min(IDENTITY_DAYS, waitedDays(notes, digest));
  const since = shiftDay(lookedOn, 1 - Math.max(1, waitedDays(notes, digest)));
  const endsOn = shiftDay(lookedOn, Math.max(1, IDENTITY_DAYS - soFar));
  return { state: 'figures-disagree', day, since, looks: { soFar, needed: IDENTITY_DAYS }, endsOn };
}

/** True for a unit that was old enough to settle at its newest look, and did not: not for a young day that settles as usual. */
function isLate({ day, state, watch }: LedgerDay, lookedOn: UtcDay): boolean {
  if (parseNotes(watch).settlesOn !== undefined) return true;
  return state === 'loaded' && daysBetween(day, lookedOn) > LOOKS;
}

function mass(units: readonly LedgerDay[], { mass: known, today }: OpenFacts): OpenState[] {
  if (known === undefined || !isMassNow(known, today)) return [];
  const days = new Set(
    units.flatMap(({ day, settledAt, watch }) =>
      settledAt !== null && parseNotes(watch).looks !== undefined ? [day] : [],
    ),
  );
  // All of history is compared from the second night on, and three looks are enough.
  const end = { looks: null, endsOn: shiftDay(known.since, LOOKS) };
  const since = `${known.since}T00:00:00.000Z`;
  return [
    { state: 'mass', exitCode: EXIT.quarantine, count: days.size, ...spanOf([...days]), since, ...end },
  ];
}

function flapping(units: readonly LedgerDay[], { flapping: known, today }: OpenFacts): OpenState[] {
  if (known === null || known === undefined || !isFlappingNow(known, today)) return [];
  const unstable = units.filter(isUnstableUnit);
  const span = spanOf(unstable.map(({ day }) => day));
  const since = `${known.since}T00:00:00.000Z`;
  const end = { looks: null, endsOn: shiftDay(known.lastOn, FLAPPING_NAMED_DAYS + 1) };
  return [{ state: 'flapping', exitCode: EXIT.quarantine, count: unstable.length, ...span, since, ...end }];
}

/** The next run ends it if its requests are enough. */
function leftOut({ leftOut: left = [], today }: OpenFacts): OpenState[] {
  const since = firstOf(left.map((each) => each.since));
  if (since === null) return [];
  const count = left.reduce((sum, { units }) => sum + units, 0);
  const span = spanOf(left.flatMap(({ first, last }) => [first, last]));
  const open = { exitCode: EXIT.ok, count, ...span, since: `${since}T00:00:00.000Z`, looks: null };
  return [{ state: 'left-out', ...open, endsOn: today }];
}

function lacking({ soFar, needed }: WaitingUnit['looks']): number {
  return needed - soFar;
}

/** A day that is still to come was noted while a clock was ahead, and counts for no doubt. */
function looksOf({ seenOn, since }: StandingDoubt, needed: number, today: UtcDay) {
  return { soFar: seenOn.filter((day) => day >= since.slice(0, day.length) && day <= today).length, needed };
}

/** The first day on which a run can accept a loss, if it finds it again on each day until then. */
function acceptedOn({ since }: StandingDoubt): UtcDay {
  const seenOften = shiftDay(dayOf(new Date(since)), ACCEPT_LOOKS - 1);
  const isOld = dayOf(new Date(Date.parse(since) + ACCEPT_AFTER_MS));
  return seenOften > isOld ? seenOften : isOld;
}

function spanOf(days: readonly UtcDay[]): Pick<OpenState, 'firstDay' | 'lastDay'> {
  return { firstDay: firstOf(days), lastDay: lastOf(days) };
}

function firstOf<Text extends string>(texts: readonly Text[]): Text | null {
  return texts.toSorted()[0] ?? null;
}

function lastOf<Text extends string>(texts: readonly (Text | undefined)[]): Text | null {
  return (
    texts
      .filter((text) => text !== undefined)
      .toSorted()
      .at(-1) ?? null
  );
}
