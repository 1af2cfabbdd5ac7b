import type { Clock } from '../core/clock.ts';
import { daysBetween, FIRST_DAY, shiftDay, startOfDayMs, type UtcDay } from '../core/day.ts';
import type { DailyStream } from '../core/stream.ts';
import { type Dataset, openDataset } from './dataset/dataset.ts';
import { buildPopulation, DAY_MS } from './dataset/population.ts';
import { hash, ulid } from './dataset/pseudo-random.ts';
import {
  listReports,
  openReports,
  type ReportChanges,
  type ReportList,
  type Reports,
} from './dataset/reports.ts';
import { applyChanges, type DayChange, type DayVariant } from './dataset/variant.ts';
import { type DaySource, type GivenDays, openGivenDays } from './days.ts';
import type { Quirks } from './quirks.ts';
import { deriveKeys, type Keys } from './request.ts';
import { openSessions, type Sessions, withSessions } from './sessions.ts';

/** The options that determine the organization at the start. */
interface WorldOptions {
  readonly today: UtcDay;
  readonly seed: number;
  readonly users: number;
  readonly steady: boolean;
  readonly reports: number;
  readonly apiKey: string | undefined;
  readonly token: string | null;
  readonly orgId: string | undefined;
  readonly quirks: Quirks;
  readonly days: DaySource | null;
  readonly clock: Clock;
}

/** The data and behaviour of the service at this moment. Everything that changes while it runs changes here. */
export interface World {
  readonly orgId: string;
  readonly keys: Keys;
  readonly dataset: Dataset;
  readonly reports: Reports;
  readonly revisions: Revisions;
  readonly sessions: Sessions;
  /** The days that are given; call {@link World.changed} after a change. */
  readonly days: GivenDays;
  /** The current readiness list, in the order of the quirk. */
  reportList(): ReportList;
  today(): UtcDay;
  setToday(day: UtcDay): void;
  quirks(): Quirks;
  setQuirks(changes: Partial<Quirks>): void;
  /** The emulated instant: today, at the time of day of the injected clock. */
  now(): Date;
  /**
   * Returns the last day of the range that has data; days count from the first day with data. While yesterday's batch
   * is late for a number of requests, each call counts as one of them.
   */
  lastDayWithData(range: { readonly endDate: UtcDay; readonly last: number }): number;
  /** Increases with every change. Responses of an earlier version are out of date. */
  version(): number;
  /** Call it after every change to `revisions` or `days`. */
  changed(): void;
}

/** Opens the world of an organization. */
export function openWorld(options: WorldOptions): World {
  const { seed, clock } = options;
  let today = options.today;
  let { quirks } = options;
  let version = 0;
  let lateRequests = 0;
  let list: ReportList | undefined;
  const population = buildPopulation({ seed, size: options.users, steady: options.steady });
  const revisions = openRevisions(() => ({ today, quirks }));
  const sessions = openSessions({
    seed,
    users: population.size,
    now: () => atTimeOfDay(today, clock),
    monotonicMs: () => clock.monotonicMs(),
    idOf: population.idOf,
  });
  const reports = openReports(seed, options.reports, today);

  function changed(): void {
    version += 1;
    list = undefined;
    revisions.refresh();
  }

  return {
    orgId: options.orgId ?? ulid('org_', startOfDayMs(FIRST_DAY) - 300 * DAY_MS, hash(seed, 0x0a6), 0),
    keys: deriveKeys(options, options.apiKey),
    dataset: openDataset(population, withSessions(revisions.variantOf, sessions)),
    reports,
    revisions,
    sessions,
    days: openGivenDays(options.days ?? undefined),
    reportList() {
      list ??= listReports(reports, revisions.reportChanges(), { today, order: quirks.readinessOrder });
      return list;
    },
    today: () => today,
    setToday(day) {
      today = day;
      lateRequests = 0;
      changed();
    },
    quirks: () => quirks,
    setQuirks(changes) {
      quirks = { ...quirks, ...changes };
      lateRequests = 0;
      changed();
    },
    now: () => atTimeOfDay(today, clock),
    lastDayWithData({ endDate, last }) {
      const { lateBatch } = quirks;
      const isLate = typeof lateBatch === 'number' ? lateRequests < lateBatch : lateBatch;
      if (!isLate || endDate !== shiftDay(today, -1)) return last;
      lateRequests += 1;
      return last - 1;
    },
    version: () => version,
    changed,
  };
}

function atTimeOfDay(day: UtcDay, clock: Clock): Date {
  const timeOfDayMs = ((clock.now().getTime() % DAY_MS) + DAY_MS) % DAY_MS;
  return new Date(startOfDayMs(day) + timeOfDayMs);
}

/** On a provisional day, the share of users with provisional numbers and the share of users still missing. */
const PROVISIONAL_SHARE = 0.35;
const HIDDEN_SHARE = 0.03;
/** Interval between added reports. The first one is created when the day of the revision begins. */
const ADDED_EVERY_MS = 60_000;
/** Maximum number of cached variants. */
const VARIANTS_MAX = 20_000;
/** Separates the salts of provisional numbers from those of revisions, which count from 1. */
const PROVISIONAL_SALT = 0x70000000;
/** The salt that selects the users whom the lie `someUsers` keeps. */
const SOME_USERS_SALT = 0x60000000;

/** A change to one day in some streams. */
interface DayRevision {
  readonly day: UtcDay;
  readonly streams: readonly DailyStream[];
  readonly change: DayChange;
}

/** All changes since the start, by revisions and by quirks that change days. */
interface Revisions {
  /** The changes to a day in one stream. Days count from the first day with data. */
  variantOf(day: number, stream: DailyStream): DayVariant;
  /** The changes to the readiness reports. */
  reportChanges(): ReportChanges;
  /** Returns the number of the next revision, from 1. */
  nextNumber(): number;
  addDay(revision: DayRevision): void;
  addReports(count: number): void;
  deleteReport(report: number): void;
  changeReport(report: number, salt: number): void;
  /** Undoes the revisions of one day. Without a day, undoes all revisions including those of reports. */
  revert(day?: UtcDay): void;
  /** Call it when today or the quirks have changed. */
  refresh(): void;
}

type DatedRevision = DayRevision & { readonly madeOn: UtcDay };

interface Surroundings {
  readonly today: UtcDay;
  readonly quirks: Pick<Quirks, 'inactiveDays' | 'provisionalDays' | 'lies'>;
}

/** Opens an empty record of revisions. `surroundings` returns the current day and quirks, on which the days also depend. */
function openRevisions(surroundings: () => Surroundings): Revisions {
  let days: DatedRevision[] = [];
  let added: readonly number[] = [];
  let counter = 0;
  const deleted = new Set<number>();
  const changed = new Map<number, number>();
  const variants = new Map<string, DayVariant>();

  return {
    variantOf(day, stream) {
      const key = `${day} ${stream}`;
      const known = variants.get(key);
      if (known !== undefined) return known;
      if (variants.size >= VARIANTS_MAX) variants.clear();
      const variant = buildVariant(day, stream, days, surroundings());
      variants.set(key, variant);
      return variant;
    },
    reportChanges: () => ({ added, deleted, changed }),
    nextNumber: () => ++counter,
    addDay(revision) {
      days.push({ ...revision, madeOn: surroundings().today });
      variants.clear();
    },
    addReports(count) {
      const first = Math.max(startOfDayMs(surroundings().today), (added.at(-1) ?? 0) + ADDED_EVERY_MS);
      added = [...added, ...Array.from({ length: count }, (_, index) => first + index * ADDED_EVERY_MS)];
    },
    deleteReport: (report) => void deleted.add(report),
    changeReport: (report, salt) => void changed.set(report, salt),
    revert(day) {
      days = day === undefined ? [] : days.filter((revision) => revision.day !== day);
      variants.clear();
      if (day !== undefined) return;
      added = [];
      deleted.clear();
      changed.clear();
    },
    refresh: () => variants.clear(),
  };
}

function buildVariant(
  day: number,
  stream: DailyStream,
  revisions: readonly DatedRevision[],
  { today, quirks }: Surroundings,
): DayVariant {
  const { rolledBackTo, someUsers } = quirks.lies;
  const date = shiftDay(FIRST_DAY, day);
  const changes = revisions
    .filter((revision) => revision.day === date && revision.streams.includes(stream))
    .filter(({ madeOn }) => rolledBackTo === undefined || madeOn < rolledBackTo)
    .map(({ change }) => change);
  const age = daysBetween(FIRST_DAY, rolledBackTo ?? today) - day;
  const hidesSome =
    someUsers !== undefined &&
    (someUsers.streams ?? [stream]).includes(stream) &&
    (someUsers.days ?? [date]).includes(date);
  return applyChanges([
    ...(age >= 1 && age <= quirks.provisionalDays ? [makeProvisional(age)] : []),
    ...changes,
    ...(quirks.inactiveDays.includes(date) ? [{ key: 'inactive', empty: true }] : []),
    ...(hidesSome ? [hideAllExcept(someUsers.share)] : []),
  ]);
}

function makeProvisional(age: number): DayChange {
  const salt = PROVISIONAL_SALT + age;
  return {
    key: `provisional-${age}`,
    renumbered: { salt, share: PROVISIONAL_SHARE },
    hidden: { salt: -salt, share: HIDDEN_SHARE },
  };
}

/** Hides all users except a share of them. */
function hideAllExcept(share: number): DayChange {
  return { key: `share-${share}`, hidden: { salt: SOME_USERS_SALT, share: 1 - share } };
}
