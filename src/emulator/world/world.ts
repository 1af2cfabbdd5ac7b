import type { Clock } from '../../core/clock.ts';
import { FIRST_DAY, shiftDay, startOfDayMs, type UtcDay } from '../../core/day.ts';
import { type Dataset, openDataset } from '../dataset/dataset.ts';
import { hash } from '../dataset/hash.ts';
import { ulid } from '../dataset/ids.ts';
import { buildPopulation, DAY_MS } from '../dataset/population.ts';
import { listReports, openReports, type ReportList, type Reports } from '../dataset/readiness.ts';
import { deriveKeys, type Keys } from '../http/auth.ts';
import { DEFAULT_QUIRKS, type Quirks } from '../quirks/quirks.ts';
import { openRevisions, type Revisions } from './revisions.ts';
import { withSessions } from './session-days.ts';
import { openSessions, type Sessions } from './sessions.ts';

/** The options that determine the organization at the start. */
export interface WorldOptions {
  readonly today: UtcDay;
  readonly seed: number;
  readonly users: number;
  readonly steady: boolean;
  readonly reports: number;
  readonly apiKey: string | undefined;
  readonly orgId: string | undefined;
  readonly quirks: Partial<Quirks>;
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
  /** Call it after every change to `revisions`. */
  changed(): void;
}

/** Opens the world of an organization. */
export function openWorld(options: WorldOptions): World {
  const { seed, clock } = options;
  let today = options.today;
  let quirks: Quirks = { ...DEFAULT_QUIRKS, ...options.quirks };
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
    keys: deriveKeys(seed, options.apiKey),
    dataset: openDataset(population, withSessions(revisions.variantOf, sessions)),
    reports,
    revisions,
    sessions,
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
