import { FIRST_DAY, startOfDayMs } from '../../core/day.ts';
import { REPOSITORY_NAMES } from './criteria.ts';
import { hash, unitOf } from './hash.ts';
import { ulid, uuid } from './ids.ts';
import { DAY_MS } from './population.ts';

const FIRST_DAY_MS = startOfDayMs(FIRST_DAY);
/** The reports of the start are spread over the days before the first day with data, so that they never move. */
const HISTORY_MS = 120 * DAY_MS;
/** Reports added later follow one another at this distance. */
const ADDED_EVERY_MS = DAY_MS / 4;
const REPORTS_PER_REPOSITORY = 6;
const ASPECT = { repository: 60, created: 61, order: 62, reportId: 63, repositoryId: 64 } as const;

/** Order of the readiness list. */
export type ReportOrder = 'newest' | 'oldest' | 'shuffled';

/** What became of the reports after the start. */
export interface ReportChanges {
  /** Reports newer than all of the start. */
  readonly added: number;
  /** Numbers of deleted reports. */
  readonly deleted: ReadonlySet<number>;
  /** A salt for reports whose evaluation changed. */
  readonly changed: ReadonlyMap<number, number>;
}

/** The reports, numbered from 0 in the order of creation. */
export interface Reports {
  readonly seed: number;
  /** Reports of the start. */
  readonly initial: number;
  readonly repositories: number;
  idOf(report: number): string;
  createdAtMs(report: number): number;
  repositoryOf(report: number): number;
  repositoryId(repository: number): string;
  repositoryUrl(repository: number): string;
}

/** The reports of an organization. Answers depend on the arguments alone. */
export function openReports(seed: number, initial: number): Reports {
  const repositories = Math.max(1, Math.ceil(initial / REPORTS_PER_REPOSITORY));
  return {
    seed,
    initial,
    repositories,
    idOf: (report) => uuid(hash(seed, ASPECT.reportId), report),
    createdAtMs(report) {
      if (report >= initial) return FIRST_DAY_MS + (report - initial + 1) * ADDED_EVERY_MS;
      const place = (report + 0.8 * unitOf(hash(seed, report, ASPECT.created))) / initial;
      return FIRST_DAY_MS - HISTORY_MS + Math.floor(place * HISTORY_MS);
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

/** A list in one order, with the place of every report in it. */
export interface ReportList {
  readonly numbers: readonly number[];
  /** The place of the report with this id, or -1. */
  placeOf(reportId: string): number;
}

/** Lists the reports that exist. Costs memory in their number; keep the result until something changes. */
export function listReports(reports: Reports, changes: ReportChanges, order: ReportOrder): ReportList {
  const numbers: number[] = [];
  for (let report = 0; report < reports.initial + changes.added; report++) {
    if (!changes.deleted.has(report)) numbers.push(report);
  }
  if (order === 'newest') numbers.reverse();
  if (order === 'shuffled') {
    const key = (report: number) => hash(reports.seed, report, ASPECT.order);
    numbers.sort((a, b) => key(a) - key(b) || a - b);
  }
  const places = new Map(numbers.map((report, place) => [reports.idOf(report), place]));
  return { numbers, placeOf: (reportId) => places.get(reportId) ?? -1 };
}
