import { type Dialect, type SQL, sql } from '../../schema/query.ts';
import { dayOf, daysBetween, daysFrom, shiftDay, type UtcDay, yesterdayOf } from '../core/day.ts';
import { type DailyStream, isStream, STREAMS, type Stream } from '../core/stream.ts';
import { parseNotes } from '../judge/notes.ts';
import type { Warehouse } from '../port/index.ts';
import {
  type DayUnit,
  isDayUnit,
  isStored,
  type LedgerDay,
  type LedgerUnit,
  type UnitState,
  unitName,
} from '../units/index.ts';
import { type Contract, dailyOf, isKept, storedContract, usersFromOf, WHOLE } from './contract.ts';

/** A day that is missing this many days after its end needs a person: the nightly runs have not brought it. */
export const MISSING_AFTER_DAYS = 3;
/** How long a first export may take, and the first one after a change of the contract, before it counts as late. */
export const FIRST_EXPORT_HOURS = 6;

/** A clock that was ahead by more than this has written instants that say nothing. */
const AHEAD_MS_MAX = 86_400_000;

/** What {@link expectationOf} judges. */
export interface ExpectationFacts {
  readonly contract: Contract;
  /** When a run last changed the contract, as an ISO instant; null before the first run. */
  readonly contractSince: string | null;
  /** The units of the organization. */
  readonly units: readonly LedgerUnit[];
  readonly completions: Completions;
  readonly now: Date;
}

/** Reads what is expected of an organization, and what of it is missing. Call in a snapshot. */
export async function readExpectation(
  warehouse: Warehouse,
  orgId: string,
  { units, now }: Pick<ExpectationFacts, 'units' | 'now'>,
): Promise<Expectation> {
  const stored = await warehouse.read(() => storedContract(orgId));
  const completions = await readCompletions(warehouse, orgId, now);
  const { contract, since: contractSince } = stored ?? { contract: WHOLE, since: null };
  const known = { ...contract, usersFrom: usersFromOf(units.filter(isDayUnit)) };
  return expectationOf({ contract: known, contractSince, units, completions, now });
}

/** What is expected of an organization at an instant, and what of it is not there. */
export interface Expectation {
  readonly contract: Contract;
  /** The expected days, from the first one of the contract to yesterday. */
  readonly days: readonly UtcDay[];
  /** The expected streams with one unit per day. */
  readonly daily: readonly DailyStream[];
  /** Expected days that are missing or incomplete, oldest first. */
  readonly holes: readonly Hole[];
  /** Those of them that are not stored, and ended long enough ago to need a person; by stream, oldest first. */
  readonly missing: readonly MissingDay[];
  /** Those that are not stored although the run that should have brought them was due; by stream, oldest first. */
  readonly overdue: readonly MissingDay[];
  /** The newest day that is stored in every expected stream; null if there is none. */
  readonly wholeDay: UtcDay | null;
  /** How many expected days up to the last complete export were never pulled. */
  readonly skippedDays: number;
  /** By stream: the last run that brought it up to yesterday. */
  readonly completions: Completions;
  /** The last complete export: of the expected stream that waits longest for one. Null if one has none. */
  readonly lastComplete: Span | null;
  readonly isLate: boolean;
  /** The instant from which it is late if no further export is complete; null before the first run. */
  readonly lateFrom: Date | null;
}

/** Consecutive days that are missing or incomplete in some streams, all in the same state. */
export interface Hole {
  readonly state: Extract<UnitState, 'pending' | 'failed' | 'awaiting' | 'doubted' | 'quarantined'>;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly days: number;
  readonly streams: readonly DailyStream[];
}

/** A day of a stream that is missing, and why: nobody has pulled it, or every pull of it has failed. */
interface MissingDay {
  readonly stream: DailyStream;
  readonly day: UtcDay;
  readonly state: 'pending' | 'failed';
}

/**
 * Says what is expected, what of it is missing, and whether it is late. Everything that reports holes, age or lateness asks this
 * function, so that no two of them differ. Pure.
 */
export function expectationOf(facts: ExpectationFacts): Expectation {
  const { contract, units, now } = facts;
  const days = expectedDays(contract, yesterdayOf(now));
  const daily = dailyOf(contract);
  const ledger = new Map(units.filter(isDayUnit).map((unit) => [unitName(unit), unit]));
  const unitOf = (stream: DailyStream, day: UtcDay) => ledger.get(unitName({ stream, day }));
  const lastComplete = lastCompleteOf(facts);
  const due = lastComplete === null ? '' : yesterdayOf(new Date(lastComplete.startedAt));
  const lateness = latenessOf(facts, lastComplete);
  const missingAmong = (isAsked: (day: UtcDay) => boolean) =>
    daily.flatMap((stream) =>
      daysOf(stream).flatMap((day): MissingDay[] => {
        const state = isAsked(day) ? whyMissing(unitOf(stream, day)) : null;
        return state === null ? [] : [{ stream, day, state }];
      }),
    );
  const daysOf = (stream: DailyStream) => days.filter((day) => isKept(contract, stream, day));
  const isSkipped = (day: UtcDay) =>
    day <= due &&
    daily.some(
      (stream) => isKept(contract, stream, day) && (unitOf(stream, day)?.state ?? 'pending') === 'pending',
    );
  return {
    ...{ contract, days, daily, lastComplete, completions: facts.completions },
    holes: mergeHoles(
      daily.flatMap((stream) => holesOf(stream, daysOf(stream), (day) => holeState(unitOf(stream, day)))),
    ),
    missing: missingAmong((day) => day < shiftDay(dayOf(now), -MISSING_AFTER_DAYS)),
    overdue: missingAmong((day) => lateness.isLate || day <= due),
    wholeDay:
      days.findLast((day) =>
        daily.every((stream) => isThere(contract, unitOf(stream, day), { stream, day })),
      ) ?? null,
    skippedDays: days.filter(isSkipped).length,
    ...lateness,
  };
}

function isThere(contract: Contract, unit: LedgerDay | undefined, { stream, day }: DayUnit): boolean {
  return !isKept(contract, stream, day) || whyMissing(unit) === null;
}

function expectedDays({ firstDay }: Contract, lastDay: UtcDay): UtcDay[] {
  return firstDay > lastDay ? [] : daysFrom(firstDay, lastDay);
}

/** True for a unit that the contract names, whatever its age, unless it has expired. Readiness has no day, or ''. */
export function isExpected(
  { stream, day = '' }: { readonly stream: Stream; readonly day?: UtcDay | '' },
  contract: Contract,
): boolean {
  if (!contract.streams.includes(stream)) return false;
  return day === '' || (day >= contract.firstDay && isKept(contract, stream, day));
}

function lastCompleteOf({ contract, completions }: ExpectationFacts): Span | null {
  const spans = contract.streams.flatMap((stream) => completions.get(stream) ?? []);
  if (spans.length < contract.streams.length) return null;
  return spans.toSorted((a, b) => (a.endedAt < b.endedAt ? -1 : 1))[0] ?? null;
}

/** An organization that was never complete is late once its first export had its time. */
function latenessOf(
  { contract, contractSince, now }: ExpectationFacts,
  lastComplete: Span | null,
): Pick<Expectation, 'isLate' | 'lateFrom'> {
  const [since, allowedSeconds] =
    lastComplete === null
      ? [contractSince, FIRST_EXPORT_HOURS * 3_600]
      : [lastComplete.endedAt, contract.maxAgeSeconds];
  if (since === null) return { isLate: true, lateFrom: null };
  const lateFrom = new Date(Date.parse(since) + allowedSeconds * 1_000);
  const isAhead = now.getTime() - Date.parse(since) < -AHEAD_MS_MAX;
  return { isLate: now > lateFrom || isAhead, lateFrom };
}

/** The state by which a day may be a hole. A day that was old when it was first seen without activity is probably empty. */
function holeState(unit: LedgerUnit | undefined): UnitState {
  if (unit === undefined) return 'pending';
  const isInFirstLooks = unit.state === 'awaiting' && parseNotes(unit.watch).settlesOn !== undefined;
  return isInFirstLooks ? 'empty' : unit.state;
}

/**
 * An awaiting unit is not missing: the service has answered that it is idle. Neither is one that failed after an earlier pull had
 * stored it.
 */
function whyMissing(unit: LedgerDay | undefined): MissingDay['state'] | null {
  if (unit === undefined) return 'pending';
  const { state } = unit;
  return (state === 'pending' || state === 'failed') && !isStored(unit) ? state : null;
}

function holesOf(stream: DailyStream, days: readonly UtcDay[], stateAt: (day: UtcDay) => UnitState): Hole[] {
  const holes: Hole[] = [];
  for (const day of days) {
    const state = stateAt(day);
    if (state === 'loaded' || state === 'empty' || state === 'expired') continue;
    const last = holes.at(-1);
    const firstDay =
      last !== undefined && last.state === state && shiftDay(last.lastDay, 1) === day ? last.firstDay : day;
    if (last !== undefined && firstDay !== day) holes.pop();
    holes.push({ state, firstDay, lastDay: day, days: daysBetween(firstDay, day) + 1, streams: [stream] });
  }
  return holes;
}

/** Merges holes of different streams that have the same days and state; oldest first. */
function mergeHoles(holes: readonly Hole[]): Hole[] {
  const merged = new Map<string, Hole>();
  for (const hole of holes) {
    const name = `${hole.firstDay} ${hole.lastDay} ${hole.state}`;
    const streams = [...(merged.get(name)?.streams ?? []), ...hole.streams];
    merged.set(name, { ...hole, streams });
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, hole]) => hole);
}

/** When a run began and ended, as ISO instants. */
interface Span {
  readonly startedAt: string;
  readonly endedAt: string;
}

/** By stream: the last run that brought it up to yesterday. */
type Completions = ReadonlyMap<Stream, Span>;

/** Runs of versions that did not record what they completed: without failure, they completed everything. */
const OLD_RUN = sql`runs.completed IS NULL AND runs.exit_code = 0 AND runs.command <> 'backfill'`;
const EVERY_STREAM = JSON.stringify(STREAMS);

const COMPLETED: Readonly<Record<Dialect, SQL>> = {
  sqlite: sql`json_each(CASE WHEN ${OLD_RUN} THEN ${EVERY_STREAM} ELSE runs.completed END) AS entry`,
  postgres: sql`LATERAL jsonb_array_elements_text(
    CASE WHEN ${OLD_RUN} THEN ${EVERY_STREAM}::jsonb ELSE COALESCE(runs.completed, '[]'::jsonb) END) AS entry(value)`,
};

/** The last run that brought each stream of an organization up to yesterday. Runs of a clock that was ahead are left out. */
async function readCompletions(
  warehouse: Pick<Warehouse, 'select' | 'dialect'>,
  orgId: string,
  now: Date,
): Promise<Completions> {
  const latest = new Date(now.getTime() + AHEAD_MS_MAX).toISOString();
  const rows = await warehouse.select(sql`SELECT stream, started_at, ended_at FROM (
  SELECT entry.value AS stream, runs.started_at, runs.ended_at,
    ROW_NUMBER() OVER (PARTITION BY entry.value ORDER BY runs.ended_at DESC) AS place
  FROM export_runs AS runs CROSS JOIN ${COMPLETED[warehouse.dialect]}
  WHERE runs.org_id = ${orgId} AND runs.ended_at <= ${latest}) AS completed
WHERE place = 1`);
  return new Map(
    rows.flatMap(({ stream, started_at: startedAt, ended_at: endedAt }) =>
      isStream(stream) ? [[stream, { startedAt: String(startedAt), endedAt: String(endedAt) }]] : [],
    ),
  );
}
