import { tables } from '../../schema/tables.ts';
import { daysBetween, shiftDay, spansOf, type UtcDay, yesterdayOf } from '../core/day.ts';
import type { RuleName } from '../core/errors.ts';
import { DAILY_STREAMS, type DailyStream, STREAMS, type Stream } from '../core/stream.ts';
import {
  type Contract,
  type Expectation,
  type Hole,
  isExpected,
  isKept,
  readExpectation,
} from '../expected/index.ts';
import { parseDoubt } from '../judge/doubt.ts';
import { FLAPPING, parseFlapping } from '../judge/flapping.ts';
import { isMassNow } from '../judge/mass.ts';
import { missingReports } from '../judge/missing-reports.ts';
import { parseNotes } from '../judge/notes.ts';
import { parseWatchState, WATCH } from '../judge/watch-plan.ts';
import { readActiveSince, readOpenRecords, readReadinessUnit, readUnits } from '../ledger/index.ts';
import { runReads, type Warehouse } from '../port/index.ts';
import { readState, readStates } from '../records/index.ts';
import { readStanding } from '../rollups/index.ts';
import { dateOf, isDayUnit, isSettled, type LedgerUnit, type UnitState, unitName } from '../units/index.ts';
import { daysWithData } from './health.ts';
import { type OpenState, type OpenStateName, openStatesOf } from './open-states.ts';

/**
 * The states of a day, worst first. A day has the state of its worst stream. `unsettled` and `settled` days are both
 * stored; unsettled ones are pulled again, or were never confirmed. Nothing of an `expired` day is kept.
 */
const DAY_STATES = [
  'failed',
  'doubted',
  'quarantined',
  'pending',
  'awaiting',
  'unsettled',
  'empty',
  'settled',
  'expired',
] as const;

/** One of {@link DAY_STATES}. */
export type DayState = (typeof DAY_STATES)[number];

/** A unit that keeps stored rows which the newest response lacks. */
export interface DoubtedUnit {
  readonly stream: Stream;
  readonly day: UtcDay | '';
  readonly rule: RuleName;
  /** Stored rows with activity that the response lacks, … */
  readonly rows: number;
  /** … out of this many. */
  readonly of: number;
  /** When the doubt began, as an ISO instant. */
  readonly since: string;
}

/** A stored readiness report that the newest full pass did not find. */
export interface MissingReport {
  readonly reportId: string;
  /** When a pass first missed it, as an ISO instant. */
  readonly since: string;
}

/** The units of a stream, as the ledger has them. */
interface StreamStatus {
  readonly stream: Stream;
  /** False for a stream that the contract does not name. */
  readonly isExpected: boolean;
  readonly units: Readonly<Record<UnitState, number>>;
  readonly settled: number;
  readonly rows: number;
  /** When the last run ended that brought the stream up to yesterday; null if none did. */
  readonly lastCompleteAt: string | null;
  readonly lastPulledAt: string | null;
  /** The newest day that has stored activity; null if there is none, and for readiness. */
  readonly newestDataDay: UtcDay | null;
}

/** What the warehouse holds of one organization. */
export interface OrganizationStatus {
  /** Its name in the organizations file, or else its latest recorded one; null if it has none. */
  readonly name: string | null;
  readonly orgId: string;
  /** What is expected of it. */
  readonly contract: Contract;
  /** The last complete export; null if an expected stream has none. */
  readonly lastComplete: Expectation['lastComplete'];
  /** True if that was longer ago than the contract allows. */
  readonly isLate: boolean;
  /** Days of expected streams that ended some days ago and are not stored. */
  readonly missing: Expectation['missing'];
  readonly streams: readonly StreamStatus[];
  readonly days: readonly { readonly day: UtcDay; readonly state: DayState }[];
  readonly holes: readonly Hole[];
  /** Null when every day up to yesterday is settled in every stream. */
  readonly oldestUnsettledDay: UtcDay | null;
  /**
   * The number of stored days that the rollups by week, month and user do not have yet: a run computes them when it ends, or
   * the next one does if it was killed. Until then, metrics read the rows of each day instead.
   */
  readonly staleRollupDays: number;
  /** What is open, the most urgent first. */
  readonly open: readonly OpenState[];
  /** The most urgent of it; null if nothing is open. */
  readonly highest: OpenStateName | null;
  readonly doubted: readonly DoubtedUnit[];
  /** Stored readiness reports that are deleted if further passes on other days miss them too. */
  readonly missingReports: readonly MissingReport[];
  /** Units that settled by their age, although another stream of the day contradicts them. */
  readonly neverConfirmed: readonly UnconfirmedDays[];
  readonly schemaDrift: SchemaDrift;
  readonly lastErrors: readonly { readonly stream: Stream; readonly day: string; readonly error: string }[];
}

/** Reads what the warehouse holds of an organization, up to the day before `now`. */
export async function readOrganization(
  warehouse: Warehouse,
  { name, orgId }: { readonly name: string | null; readonly orgId: string },
  now: Date,
): Promise<OrganizationStatus> {
  const daily = await readUnits(warehouse, orgId, DAILY_STREAMS);
  const readiness = await readReadinessUnit(warehouse, orgId);
  const units = readiness === null ? daily : [...daily, readiness];
  const expectation = await readExpectation(warehouse, orgId, { units, now });
  const { contract, days, daily: streams } = expectation;
  const ledger = new Map(daily.map((unit) => [unitName(unit), unit]));
  const unitOf = (stream: DailyStream, day: UtcDay) => ledger.get(unitName({ stream, day }));
  const { stale } = await runReads(warehouse, readStanding(orgId));
  const isNeverActive = (await readActiveSince(warehouse, orgId)) === null;
  const expected = units.filter((unit) => isExpected(unit, contract));
  const records = (await readOpenRecords(warehouse, orgId)).filter((unit) => isExpected(unit, contract));
  const today = shiftDay(yesterdayOf(now), 1);
  const flapping = parseFlapping(await readState(warehouse, orgId, FLAPPING), today);
  const jobs = [...(await readStates(warehouse, orgId, WATCH)).values()];
  const watches = jobs.map((text) => parseWatchState(text, today));
  const [mass] = watches
    .flatMap(({ mass: named }) => (named !== undefined && isMassNow(named, today) ? [named] : []))
    .toSorted((a, b) => (a.since < b.since ? -1 : 1));
  const leftOut = watches.flatMap((watch) => watch.leftOut ?? []);
  const open = openStatesOf({ units: expected, records, isNeverActive, flapping, mass, leftOut, today });
  return {
    name,
    orgId,
    contract,
    lastComplete: expectation.lastComplete,
    isLate: expectation.isLate,
    missing: expectation.missing,
    streams: STREAMS.map((stream) => streamStatus(stream, units, expectation)),
    days: days.map((day) => ({ day, state: worst(streams.map((stream) => stateOf(unitOf(stream, day)))) })),
    holes: expectation.holes,
    oldestUnsettledDay:
      days.find((day) => streams.some((stream) => (unitOf(stream, day)?.settledAt ?? null) === null)) ?? null,
    staleRollupDays: new Set(Object.values(stale).flat()).size,
    open,
    highest: open[0]?.state ?? null,
    doubted: expected.flatMap(doubtOf),
    missingReports: expected.flatMap(missingIn),
    neverConfirmed: unconfirmedOf(expected),
    schemaDrift: await readSchemaDrift(warehouse, orgId),
    lastErrors: expected.flatMap((unit) =>
      unit.lastError === null ? [] : [{ stream: unit.stream, day: dateOf(unit), error: unit.lastError }],
    ),
  };
}

function doubtOf(unit: LedgerUnit): DoubtedUnit[] {
  const standing = unit.state === 'doubted' ? parseDoubt(unit.doubt, unit.doubtedAt) : null;
  if (standing === null) return [];
  const { rule, rows, of, since } = standing;
  return [{ stream: unit.stream, day: dateOf(unit), rule, rows, of, since }];
}

function missingIn(unit: LedgerUnit): readonly MissingReport[] {
  const doubt = unit.stream === 'readiness' ? parseDoubt(unit.doubt, unit.doubtedAt) : null;
  return doubt === null ? [] : missingReports(doubt);
}

function streamStatus(
  stream: Stream,
  units: readonly LedgerUnit[],
  { contract, days, completions }: Expectation,
): StreamStatus {
  const own = units.filter((unit) => unit.stream === stream);
  const count = (state: UnitState) => own.filter((unit) => unit.state === state).length;
  const isNamed = contract.streams.includes(stream);
  const kept = days.filter((day) => isKept(contract, stream, day)).length;
  const expected = !isNamed ? 0 : stream === 'readiness' ? 1 : kept;
  const held = own.filter((unit) => isExpected(unit, contract)).length;
  return {
    stream,
    isExpected: isNamed,
    units: {
      pending: Math.max(0, expected - held) + count('pending'),
      awaiting: count('awaiting'),
      loaded: count('loaded'),
      empty: count('empty'),
      doubted: count('doubted'),
      quarantined: count('quarantined'),
      failed: count('failed'),
      expired: count('expired'),
    },
    settled: own.filter(isSettled).length,
    rows: own.reduce((sum, unit) => sum + unit.rows, 0),
    lastCompleteAt: completions.get(stream)?.endedAt ?? null,
    lastPulledAt: own.reduce<string | null>(
      (latest, { lastPulledAt: at }) => (at !== null && (latest === null || at > latest) ? at : latest),
      null,
    ),
    newestDataDay: daysWithData(own, stream).at(-1) ?? null,
  };
}

function stateOf(unit: LedgerUnit | undefined): DayState {
  if (unit === undefined) return 'pending';
  if (unit.state !== 'loaded') return unit.state;
  return isSettled(unit) ? 'settled' : 'unsettled';
}

function worst(states: readonly DayState[]): DayState {
  return DAY_STATES.find((state) => states.includes(state)) ?? 'settled';
}

/** How many places are listed; the table `schema_drift` has all of them. */
const LISTED_MAX = 1_000;
const COLUMNS = ['stream', 'path', 'kind', 'sample', 'first_seen_on'] as const;

/** A field or value in responses that this version does not know. */
interface DriftPlace {
  readonly stream: string;
  /** For example `data[].by_tool[].new_field`. */
  readonly path: string;
  readonly kind: string;
  readonly sample: string;
  /** The day of the unit in which it was first seen. */
  readonly since: string;
}

/** The number of unknown places, and the latest ones. */
export interface SchemaDrift {
  readonly places: number;
  readonly listed: readonly DriftPlace[];
}

/** Reads the unknown fields and values in the responses about an organization, latest first. */
async function readSchemaDrift(warehouse: Warehouse, orgId: string): Promise<SchemaDrift> {
  const found: DriftPlace[] = [];
  for await (const rows of warehouse.scan(tables.schemaDrift, { orgId }, COLUMNS)) {
    for (const values of rows) {
      const [stream = '', path = '', kind = '', sample = '', since = ''] = values.map((value) =>
        String(value ?? ''),
      );
      found.push({ stream, path, kind, sample, since });
    }
  }
  const latest = found.toSorted((a, b) => (a.since < b.since ? 1 : a.since > b.since ? -1 : 0));
  return { places: found.length, listed: latest.slice(0, LISTED_MAX) };
}

/** Consecutive days that settled by their age alone. */
export interface UnconfirmedDays extends Omit<Hole, 'state'> {
  readonly rule: RuleName;
  /** The identities that they violate. @default none are known */
  readonly identities?: readonly string[];
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
