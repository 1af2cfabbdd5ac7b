import { sql } from '../../schema/query.ts';
import { tables } from '../../schema/tables.ts';
import { daysFrom, FIRST_DAY, shiftDay, type UtcDay } from '../core/day.ts';
import type { RuleName } from '../core/errors.ts';
import { DAILY_STREAMS, type DailyStream, STREAMS, type Stream } from '../core/stream.ts';
import { parseDoubt } from '../judge/doubt.ts';
import { FLAPPING, parseFlapping } from '../judge/flapping.ts';
import { missingReports } from '../judge/missing-reports.ts';
import { parseNotes } from '../judge/notes.ts';
import { parseWatchState, WATCH, type WatchState } from '../judge/watch-plan.ts';
import { readActiveSince, readOpenRecords, readReadinessUnit, readUnits } from '../ledger/index.ts';
import { runReads, type Warehouse } from '../port/index.ts';
import { readState } from '../records/index.ts';
import { readStanding } from '../rollups/index.ts';
import { dateOf, type LedgerUnit, type UnitState, unitName } from '../units/index.ts';
import { daysWithData, type Hole, holesOf, mergeHoles, type UnconfirmedDays, unconfirmedOf } from './gaps.ts';
import { type OpenState, type OpenStateName, openStatesOf } from './open-states.ts';

/**
 * The states of a day, worst first. A day has the state of its worst stream. `unsettled` and `settled` days are both
 * stored; unsettled ones are pulled again, because the service may still change them.
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
  readonly units: Readonly<Record<UnitState, number>>;
  readonly settled: number;
  readonly rows: number;
  readonly lastPulledAt: string | null;
  /** The newest day that has stored activity; null if there is none, and for readiness. */
  readonly newestDataDay: UtcDay | null;
}

/** What the warehouse holds of one organization. */
export interface OrganizationStatus {
  /** Its name in the organizations file, or else its latest recorded one; null if it has none. */
  readonly name: string | null;
  readonly orgId: string;
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

/** Reads what the warehouse holds of an organization, from the first day of the service to `lastDay`. */
export async function readOrganization(
  warehouse: Warehouse,
  { name, orgId }: { readonly name: string | null; readonly orgId: string },
  lastDay: UtcDay,
): Promise<OrganizationStatus> {
  const daily = await readUnits(warehouse, orgId, DAILY_STREAMS);
  const readiness = await readReadinessUnit(warehouse, orgId);
  const units = readiness === null ? daily : [...daily, readiness];
  const days = daysFrom(FIRST_DAY, lastDay);
  const ledger = new Map(daily.map((unit) => [unitName(unit), unit]));
  const unitOf = (stream: DailyStream, day: UtcDay) => ledger.get(unitName({ stream, day }));
  const { stale } = await runReads(warehouse, readStanding(orgId));
  const isNeverActive = (await readActiveSince(warehouse, orgId)) === null;
  const records = await readOpenRecords(warehouse, orgId);
  const flapping = parseFlapping(await readState(warehouse, orgId, FLAPPING));
  const watches = await readWatches(warehouse, orgId);
  const [mass] = watches
    .flatMap((watch) => watch.mass ?? [])
    .toSorted((a, b) => (a.since < b.since ? -1 : 1));
  const leftOut = watches.flatMap((watch) => watch.leftOut ?? []);
  const today = shiftDay(lastDay, 1);
  const open = openStatesOf({ units, records, isNeverActive, flapping, mass, leftOut, today });
  return {
    name,
    orgId,
    streams: STREAMS.map((stream) => streamStatus(stream, units, days.length)),
    days: days.map((day) => ({
      day,
      state: worst(DAILY_STREAMS.map((stream) => stateOf(unitOf(stream, day)))),
    })),
    holes: mergeHoles(
      DAILY_STREAMS.flatMap((stream) => holesOf(stream, days, (day) => holeState(unitOf(stream, day)))),
    ),
    oldestUnsettledDay:
      days.find((day) => DAILY_STREAMS.some((stream) => (unitOf(stream, day)?.settledAt ?? null) === null)) ??
      null,
    staleRollupDays: new Set(Object.values(stale).flat()).size,
    open,
    highest: open[0]?.state ?? null,
    doubted: units.flatMap(doubtOf),
    missingReports: missingIn(readiness),
    neverConfirmed: unconfirmedOf(daily),
    schemaDrift: await readSchemaDrift(warehouse, orgId),
    lastErrors: units.flatMap((unit) =>
      unit.lastError === null ? [] : [{ stream: unit.stream, day: dateOf(unit), error: unit.lastError }],
    ),
  };
}

/** The state by which a day may be a hole. A day that was old when it was first seen without activity is probably empty. */
function holeState(unit: LedgerUnit | undefined): UnitState {
  if (unit === undefined) return 'pending';
  const isInFirstLooks = unit.state === 'awaiting' && parseNotes(unit.watch).settlesOn !== undefined;
  return isInFirstLooks ? 'empty' : unit.state;
}

function doubtOf(unit: LedgerUnit): DoubtedUnit[] {
  const standing = unit.state === 'doubted' ? parseDoubt(unit.doubt, unit.doubtedAt) : null;
  if (standing === null) return [];
  const { rule, rows, of, since } = standing;
  return [{ stream: unit.stream, day: dateOf(unit), rule, rows, of, since }];
}

function missingIn(readiness: LedgerUnit | null): readonly MissingReport[] {
  const doubt = parseDoubt(readiness?.doubt ?? null, readiness?.doubtedAt ?? null);
  return doubt === null ? [] : missingReports(doubt);
}

function streamStatus(stream: Stream, units: readonly LedgerUnit[], dayCount: number): StreamStatus {
  const own = units.filter((unit) => unit.stream === stream);
  const count = (state: UnitState) => own.filter((unit) => unit.state === state).length;
  const expected = stream === 'readiness' ? 1 : dayCount;
  return {
    stream,
    units: {
      pending: Math.max(0, expected - own.length) + count('pending'),
      awaiting: count('awaiting'),
      loaded: count('loaded'),
      empty: count('empty'),
      doubted: count('doubted'),
      quarantined: count('quarantined'),
      failed: count('failed'),
    },
    settled: own.filter((unit) => unit.settledAt !== null).length,
    rows: own.reduce((sum, unit) => sum + unit.rows, 0),
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
  return unit.settledAt === null ? 'unsettled' : 'settled';
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

/** The progress of the watch of each job: one over a part of the streams has a progress of its own. */
async function readWatches(warehouse: Warehouse, orgId: string): Promise<WatchState[]> {
  const rows = await warehouse.select(
    sql`SELECT value FROM export_state WHERE org_id = ${orgId} AND name LIKE ${`${WATCH}%`} ORDER BY name`,
  );
  return rows.map(({ value }) => parseWatchState(String(value)));
}
