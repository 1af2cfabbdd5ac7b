import { daysBetween, daysFrom, FIRST_DAY, shiftDay, startOfDayMs, type UtcDay } from '../../core/day.ts';
import { REPOSITORY_NAMES } from './catalog.ts';
import { DAY_MS } from './population.ts';
import { hash, ulid, unitOf, uuid } from './pseudo-random.ts';

const FIRST_DAY_MS = startOfDayMs(FIRST_DAY);
/** The oldest reports are older than the first day with data by this time. */
const HISTORY_MS = 120 * DAY_MS;
/** Starts within the same stretch of this many days have the same initial reports, except the newest. */
const STEADY_DAYS = 7;
/**
 * A report of a day that passes while the emulator runs has this number plus the day, counted from the first day with
 * data.
 */
const GROWN_FROM = 2_000_000_000;
const REPORTS_PER_REPOSITORY = 6;
const ASPECT = { repository: 60, created: 61, order: 62, reportId: 63, repositoryId: 64 } as const;

/** Order of the readiness list. */
type ReportOrder = 'newest' | 'oldest' | 'shuffled';

/** Changes to the reports since the start. */
export interface ReportChanges {
  /** Creation of each added report in Unix milliseconds. Added reports are numbered after the initial ones. */
  readonly added: readonly number[];
  /** Numbers of deleted reports. */
  readonly deleted: ReadonlySet<number>;
  /** The salt of each report whose evaluation changed. */
  readonly changed: ReadonlyMap<number, number>;
}

/** The reports by number. The initial reports are numbered from 0. */
export interface Reports {
  readonly seed: number;
  /** Number of initial reports. */
  readonly initial: number;
  /** The emulated day at the start. */
  readonly start: UtcDay;
  readonly repositories: number;
  idOf(report: number): string;
  createdAtMs(report: number, changes: ReportChanges): number;
  repositoryOf(report: number): number;
  repositoryId(repository: number): string;
  repositoryUrl(repository: number): string;
}

/**
 * Opens the reports of an organization. They depend on the arguments alone. The initial reports cover the time from
 * {@link HISTORY_MS} before the first day with data to the day before the start. Every day that passes later adds one.
 */
export function openReports(seed: number, initial: number, start: UtcDay): Reports {
  const repositories = Math.max(1, Math.ceil(initial / REPORTS_PER_REPOSITORY));
  // The end of the spread moves only every few days, so that a start on the next day has nearly the same reports.
  const steadyUntil = shiftDay(start, -(daysBetween(FIRST_DAY, start) % STEADY_DAYS));
  const beginMs = FIRST_DAY_MS - HISTORY_MS;
  const spreadMs = startOfDayMs(steadyUntil) - beginMs;

  /** Chooses an instant between morning and evening of a day. */
  function withinDay(dayMs: number, report: number): number {
    return dayMs + Math.floor((0.3 + 0.6 * unitOf(hash(seed, report, ASPECT.created))) * DAY_MS);
  }

  return {
    seed,
    initial,
    start,
    repositories,
    idOf: (report) => uuid(hash(seed, ASPECT.reportId), report),
    createdAtMs(report, { added }) {
      if (report >= GROWN_FROM) return withinDay(FIRST_DAY_MS + (report - GROWN_FROM) * DAY_MS, report);
      if (report >= initial) return added[report - initial] ?? 0;
      if (report === initial - 1) return withinDay(startOfDayMs(start) - DAY_MS, report);
      const place = (report + 0.8 * unitOf(hash(seed, report, ASPECT.created))) / initial;
      return beginMs + Math.floor(place * spreadMs);
    },
    repositoryOf: (report) => hash(seed, report, ASPECT.repository) % repositories,
    repositoryId: (repository) =>
      ulid('repo_', FIRST_DAY_MS - 2 * HISTORY_MS, hash(seed, ASPECT.repositoryId), repository),
    repositoryUrl(repository) {
      const name = REPOSITORY_NAMES[repository % REPOSITORY_NAMES.length] ?? 'repository';
      const round = Math.floor(repository / REPOSITORY_NAMES.length);
      return `https://git.example.com/acme/${round === 0 ? name : `${name}-${round + 1}`}`;
    },
  };
}

/** The reports in one order. */
export interface ReportList {
  readonly numbers: readonly number[];
  /** The report that was created last; -1 without reports. */
  readonly newest: number;
  /** The place of the report with this id; -1 if unknown. */
  placeOf(reportId: string): number;
}

/**
 * Lists the reports that exist before a day begins, and the added ones. The list needs memory for every report, so keep
 * it until something changes.
 */
export function listReports(
  reports: Reports,
  changes: ReportChanges,
  { today, order }: { readonly today: UtcDay; readonly order: ReportOrder },
): ReportList {
  const createdAt = new Map<number, number>();
  for (const report of numbersUntil(today, reports, changes)) {
    const instant = reports.createdAtMs(report, changes);
    const isAdded = report >= reports.initial && report < GROWN_FROM;
    if (changes.deleted.has(report) || (!isAdded && instant >= startOfDayMs(today))) continue;
    createdAt.set(report, instant);
  }
  const ascending = [...createdAt.keys()].sort(
    (a, b) => (createdAt.get(a) ?? 0) - (createdAt.get(b) ?? 0) || a - b,
  );
  const numbers = inOrder(order, ascending, reports.seed);
  const places = new Map(numbers.map((report, place) => [reports.idOf(report), place]));
  return { numbers, newest: ascending.at(-1) ?? -1, placeOf: (reportId) => places.get(reportId) ?? -1 };
}

function numbersUntil(today: UtcDay, { initial, start }: Reports, { added }: ReportChanges): number[] {
  const first = Array.from({ length: initial + added.length }, (_, report) => report);
  // An organization without initial reports never gets any.
  if (initial === 0 || today <= start) return first;
  const passed = daysFrom(start, shiftDay(today, -1));
  return [...first, ...passed.map((day) => GROWN_FROM + daysBetween(FIRST_DAY, day))];
}

function inOrder(order: ReportOrder, ascending: readonly number[], seed: number): number[] {
  if (order === 'newest') return ascending.toReversed();
  if (order === 'oldest') return [...ascending];
  const key = (report: number) => hash(seed, report, ASPECT.order);
  return ascending.toSorted((a, b) => key(a) - key(b) || a - b);
}
