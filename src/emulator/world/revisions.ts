import { daysBetween, FIRST_DAY, shiftDay, startOfDayMs, type UtcDay } from '../../core/day.ts';
import type { DailyStream } from '../../core/stream.ts';
import type { ReportChanges } from '../dataset/readiness.ts';
import { applyChanges, type DayChange, type DayVariant } from '../dataset/variant.ts';
import type { Quirks } from '../quirks/quirks.ts';

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
export interface DayRevision {
  readonly day: UtcDay;
  readonly streams: readonly DailyStream[];
  readonly change: DayChange;
}

/** All changes since the start, by revisions and by quirks that change days. */
export interface Revisions {
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
export function openRevisions(surroundings: () => Surroundings): Revisions {
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
