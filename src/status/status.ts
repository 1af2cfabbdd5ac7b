import { daysFrom, FIRST_DAY, type UtcDay, yesterdayOf } from '../core/day.ts';
import { EXIT } from '../core/exit-code.ts';
import type { JobContext } from '../core/job-context.ts';
import type { RuleName } from '../core/rules.ts';
import { DAILY_STREAMS, type DailyStream, STREAMS, type Stream } from '../core/stream.ts';
import { parseDoubt } from '../judge/doubt.ts';
import type { Settings } from '../settings/settings.ts';
import type { LedgerUnit, QuarantineCount, RunRecord, UnitState, Warehouse } from '../warehouse/port.ts';
import { withWarehouse } from '../warehouse/with-warehouse.ts';
import { daysWithData } from './days-with-data.ts';
import { type Hole, holesOf, mergeHoles, type UnconfirmedDays, unconfirmedOf } from './gaps.ts';

export type { Hole, UnconfirmedDays } from './gaps.ts';

import { readSchemaDrift, type SchemaDrift } from './schema-drift.ts';

/** Runs that are looked at for the last complete one. */
export const RUNS_MAX = 100;

/**
 * How a day stands, worst first: what the day's worst stream is. `unsettled` and `settled` both hold the day; the first
 * is pulled again, because the service may still change it.
 */
export const DAY_STATES = [
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

/** A unit of which an answer would have removed stored rows. */
export interface DoubtedUnit {
  readonly stream: Stream;
  readonly day: UtcDay | '';
  readonly rule: RuleName;
  /** Rows with activity that would be lost, of so many. */
  readonly rows: number;
  readonly of: number;
  /** Since when it is doubted, as an ISO instant. */
  readonly since: string;
}

/** What the ledger says of a stream. */
export interface StreamStatus {
  readonly stream: Stream;
  readonly units: Readonly<Record<UnitState, number>>;
  readonly settled: number;
  readonly rows: number;
  readonly lastPulledAt: string | null;
  /** The newest day that has stored activity; null where none has, and for readiness. */
  readonly newestDataDay: UtcDay | null;
}

/** What the warehouse holds of one organization. */
export interface OrganizationStatus {
  readonly orgId: string;
  readonly streams: readonly StreamStatus[];
  readonly days: readonly { readonly day: UtcDay; readonly state: DayState }[];
  readonly holes: readonly Hole[];
  /** Null when every day up to yesterday is settled in every stream. */
  readonly oldestUnsettledDay: UtcDay | null;
  /** Units that hold rows which the service does not answer any more. */
  readonly doubted: readonly DoubtedUnit[];
  /** Settled units that nothing confirmed: no activity beside other streams of the day, or fewer users than active ones. */
  readonly neverConfirmed: readonly UnconfirmedDays[];
  /** Where answers went beyond what this version knows. */
  readonly schemaDrift: SchemaDrift;
  readonly lastErrors: readonly { readonly stream: Stream; readonly day: string; readonly error: string }[];
}

/** What a warehouse holds, and what it lacks. */
export interface WarehouseStatus {
  readonly warehouse: string;
  readonly asOf: string;
  readonly firstDay: UtcDay;
  readonly lastDay: UtcDay;
  readonly organizations: readonly OrganizationStatus[];
  readonly quarantine: readonly QuarantineCount[];
  /** How many stored numbers the service changed later. */
  readonly restatements: number;
  /** Newest first. */
  readonly runs: readonly RunRecord[];
  /** When the last nightly run ended that left nothing out; null when none did. */
  readonly lastCompleteRunAt: string | null;
  readonly lastCompleteRunAgeMs: number | null;
}

/**
 * Reads what the warehouse holds, up to yesterday by the clock. Writes nothing.
 * @throws {UsageError} when there is no such warehouse.
 */
export function readStatus(
  { warehouse: location }: Settings,
  { clock }: Pick<JobContext, 'clock'>,
): Promise<WarehouseStatus> {
  return withWarehouse(location, { clock, create: false }, (warehouse) => statusOf(warehouse, clock.now()));
}

async function statusOf(warehouse: Warehouse, now: Date): Promise<WarehouseStatus> {
  const lastDay = yesterdayOf(now);
  const runs = await warehouse.runs(RUNS_MAX);
  const endedAt = runs.find(isComplete)?.endedAt ?? null;
  const organizations: OrganizationStatus[] = [];
  for (const orgId of await warehouse.organizations()) {
    organizations.push(await readOrganization(warehouse, orgId, lastDay));
  }
  return {
    warehouse: warehouse.location,
    asOf: now.toISOString(),
    firstDay: FIRST_DAY,
    lastDay,
    organizations,
    quarantine: await warehouse.quarantineCounts(),
    restatements: await warehouse.restatementCount(),
    runs,
    lastCompleteRunAt: endedAt,
    lastCompleteRunAgeMs: endedAt === null ? null : Math.max(0, now.getTime() - Date.parse(endedAt)),
  };
}

/**
 * A run that brought everything. One that set records aside did too, as long as no unit failed: a record that stays
 * wrong at the service must not make every night look stale.
 */
export function isComplete({ command, endedAt, exitCode, unitsFailed }: RunRecord): boolean {
  if (endedAt === null || command === 'backfill') return false;
  return exitCode === EXIT.ok || (exitCode === EXIT.quarantine && unitsFailed === 0);
}

async function readOrganization(
  warehouse: Warehouse,
  orgId: string,
  lastDay: UtcDay,
): Promise<OrganizationStatus> {
  const daily = await warehouse.units(orgId, DAILY_STREAMS);
  const readiness = await warehouse.readinessUnit(orgId);
  const units = readiness === null ? daily : [...daily, readiness];
  const days = daysFrom(FIRST_DAY, lastDay);
  const ledger = new Map(daily.map((unit) => [`${unit.stream} ${unit.day}`, unit]));
  const unitOf = (stream: DailyStream, day: UtcDay) => ledger.get(`${stream} ${day}`);
  return {
    orgId,
    streams: STREAMS.map((stream) => streamStatus(stream, units, days.length)),
    days: days.map((day) => ({
      day,
      state: worst(DAILY_STREAMS.map((stream) => stateOf(unitOf(stream, day)))),
    })),
    holes: mergeHoles(
      DAILY_STREAMS.flatMap((stream) =>
        holesOf(stream, days, (day) => unitOf(stream, day)?.state ?? 'pending'),
      ),
    ),
    oldestUnsettledDay:
      days.find((day) => DAILY_STREAMS.some((stream) => (unitOf(stream, day)?.settledAt ?? null) === null)) ??
      null,
    doubted: units.flatMap(doubtOf),
    neverConfirmed: unconfirmedOf(daily),
    schemaDrift: await readSchemaDrift(warehouse, orgId),
    lastErrors: units.flatMap(({ stream, day, lastError }) =>
      lastError === null ? [] : [{ stream, day, error: lastError }],
    ),
  };
}

function doubtOf({ stream, day, state, doubt, doubtedAt }: LedgerUnit): DoubtedUnit[] {
  const standing = state === 'doubted' ? parseDoubt(doubt, doubtedAt) : null;
  if (standing === null) return [];
  const { rule, rows, of, since } = standing;
  return [{ stream, day, rule, rows, of, since }];
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
