import type { Criterion, ReadinessReport } from '../../contract/index.ts';
import { startOfDayMs } from '../../core/day.ts';
import { APP_PATHS, APPLICATION_CRITERIA, NEW_CRITERIA, REPOSITORY_CRITERIA } from '../dataset/catalog.ts';
import { Draws, hash, hexDigits, unitOf } from '../dataset/pseudo-random.ts';
import type { ReportChanges, Reports } from '../dataset/reports.ts';
import { isRecord } from '../parse.ts';
import type { Lies, Quirks } from '../quirks.ts';
import { Refusal } from '../response.ts';
import type { World } from '../world.ts';
import { distort, writeUnknownTail } from './envelope.ts';
import { falsifyReport, selectRecords } from './lies.ts';
import { type Query, readInteger, single } from './params.ts';

/**
 * Responds to the readiness list (specification, section 4.3) with JSON text: the reports after `startAfter`, at most
 * `limit` and never more than the server's cap.
 * @throws {Refusal} 400 for a limit that is not a positive integer or exceeds the maximum, or an unknown startAfter.
 */
export function answerReadiness(world: World, query: Query): string {
  const quirks = world.quirks();
  const list = listedReports(world);
  const begin = placeAfterCursor(list, query);
  const limit = reportLimit(world, query);
  const repoId = single(query, 'repoId');
  const page: string[] = [];
  for (let place = begin; place < list.count && page.length < limit; place++) {
    const json = list.show(place, repoId);
    if (json !== null) page.push(json);
  }
  const kept = selectRecords(page, quirks.lies, { stream: 'readiness', range: null });
  return `{"reports":[${kept.join(',')}]${writeUnknownTail(quirks)}}`;
}

/** The reports in the order of the list. */
interface ListedReports {
  readonly count: number;
  /** The place of the report with this id; -1 if unknown. */
  placeOf(reportId: string): number;
  /** A report as JSON text; null if it is not one of the repository's, or does not exist yet. */
  show(place: number, repoId: string | null): string | null;
}

function listedReports(world: World): ListedReports {
  const given = world.days.reports();
  const quirks = world.quirks();
  if (given !== null) return listGiven(given, quirks.lies);
  const { reports } = world;
  const changes = world.revisions.reportChanges();
  const { numbers, placeOf } = world.reportList();
  return {
    count: numbers.length,
    placeOf,
    show(place, repoId) {
      const report = numbers[place] ?? 0;
      if (repoId !== null && reports.repositoryId(reports.repositoryOf(report)) !== repoId) return null;
      if (reports.createdAtMs(report, changes) >= endOfReportsMs(quirks)) return null;
      const body = writeReport(reports, changes, report, quirks);
      // The metrics of a report are required, so it can only get unknown fields.
      const shown = falsifyReport(body, quirks.lies);
      return JSON.stringify(distort(shown, body.reportId, { ...quirks, nullMetrics: 0 }));
    },
  };
}

/** Reports do not contain the id of their repository, so its URL stands for it. */
function listGiven(reports: readonly string[], lies: Lies): ListedReports {
  const parsed: ReadinessReport[] = lies.noReports === true ? [] : reports.map((json) => JSON.parse(json));
  return {
    count: parsed.length,
    placeOf: (reportId) => parsed.findIndex((report) => report.reportId === reportId),
    show(place, repoId) {
      const report = parsed[place];
      if (report === undefined || (repoId !== null && report.repoUrl !== repoId)) return null;
      if (lies.impossible !== undefined) return JSON.stringify(falsifyReport(report, lies));
      return reports[place] ?? null;
    },
  };
}

/** A repository: the id that filters the readiness list, and the URL that the list shows. */
export interface EmulatedRepository {
  readonly repoId: string;
  readonly repoUrl: string;
}

/** Lists the repositories by which the readiness list can be filtered. */
export function listRepositories({ days, reports }: World): EmulatedRepository[] {
  const given = days.reports();
  if (given === null) {
    return Array.from({ length: reports.repositories }, (_, repository) => ({
      repoId: reports.repositoryId(repository),
      repoUrl: reports.repositoryUrl(repository),
    }));
  }
  const urls = given.flatMap((json) => {
    const report: unknown = JSON.parse(json);
    return isRecord(report) && typeof report['repoUrl'] === 'string' ? [report['repoUrl']] : [];
  });
  return [...new Set(urls)].map((url) => ({ repoId: url, repoUrl: url }));
}

/** Only reports that were created before this instant exist. */
function endOfReportsMs({ lies }: Quirks): number {
  if (lies.noReports === true) return Number.NEGATIVE_INFINITY;
  return lies.rolledBackTo === undefined ? Number.POSITIVE_INFINITY : startOfDayMs(lies.rolledBackTo);
}

/** Computes the number of the requested page in its walk, from 1. Fault rules match it. */
export function readinessPageNumber(world: World, query: Query): number {
  const startAfter = query.get('startAfter');
  if (startAfter === null) return 1;
  return 1 + Math.ceil((listedReports(world).placeOf(startAfter) + 1) / reportLimit(world, query));
}

function placeAfterCursor(list: ListedReports, query: Query): number {
  const startAfter = single(query, 'startAfter');
  if (startAfter === null) return 0;
  const place = list.placeOf(startAfter);
  if (place < 0) throw new Refusal(400, 'Invalid startAfter: there is no such report');
  return place + 1;
}

function reportLimit(world: World, query: Query): number {
  const { readinessLimitCap: cap, readinessLimitMax: max } = world.quirks();
  const limit = readInteger(query, 'limit', { min: 1, max: Number.POSITIVE_INFINITY });
  if (limit !== null && max !== null && limit > max)
    throw new Refusal(400, `Invalid limit "${limit}": the maximum is ${max}`);
  return Math.min(limit ?? cap, cap);
}

const MODELS = ['atlas-4', 'atlas-4-thinking', 'borealis-3'] as const;
const EFFORTS = ['low', 'medium', 'high', 'off'] as const;
const BRANCHES = ['main', 'main', 'main', 'develop', 'release/2026.1'] as const;
const ASPECT = { report: 70, commit: 71, skipped: 72, fraction: 73 } as const;
const draws = new Draws();

/** Writes one readiness report (specification, section 2.5). Some reports lack optional fields. */
function writeReport(
  reports: Reports,
  changes: ReportChanges,
  report: number,
  quirks: Quirks,
): ReadinessReport {
  const repository = reports.repositoryOf(report);
  const salt = changes.changed.get(report) ?? 0;
  // A repository has the same applications in all its reports.
  const apps = APP_PATHS.slice(0, 1 + (hash(reports.seed, repository, ASPECT.report) % APP_PATHS.length));
  draws.restart(hash(reports.seed, report, ASPECT.report, salt));
  // Later reports pass more, as organizations improve.
  const rank = Math.min(report, reports.initial);
  const pass = Math.min(0.95, 0.35 + (0.5 * rank) / Math.max(1, reports.initial));
  return {
    reportId: reports.idOf(report),
    createdAt:
      reports.createdAtMs(report, changes) + (quirks.fractionalCreatedAt ? fractionOf(reports, report) : 0),
    repoUrl: reports.repositoryUrl(repository),
    apps: Object.fromEntries(apps.map(({ path, description }) => [path, { description }])),
    report: Object.fromEntries(evaluate(apps.length, pass, quirks)),
    ...optionalFields(reports.seed, report, rank),
  };
}

/** A fraction of a millisecond in eighths, which every JSON parser reads exactly. */
function fractionOf({ seed }: Reports, report: number): number {
  return (1 + (hash(seed, report, ASPECT.fraction) % 7)) / 8;
}

function evaluate(apps: number, pass: number, quirks: Quirks): [string, Criterion][] {
  const added = quirks.newCriteria ? NEW_CRITERIA : [];
  return [
    ...REPOSITORY_CRITERIA.map((id): [string, Criterion] => [id, criterion(1, pass, quirks)]),
    ...[...APPLICATION_CRITERIA, ...added].map((id): [string, Criterion] => [
      id,
      criterion(apps, pass, quirks),
    ]),
  ];
}

function criterion(denominator: number, pass: number, quirks: Quirks): Criterion {
  // Always drawn, so that the quirk does not change the numbers of the other criteria.
  const skipped = unitOf(hash(draws.bits(), ASPECT.skipped)) < quirks.nullNumerators;
  let numerator = 0;
  for (let app = 0; app < denominator; app++) if (draws.chance(pass)) numerator += 1;
  if (skipped)
    return { numerator: null, denominator, rationale: 'Skipped: not applicable to this repository.' };
  return {
    numerator,
    denominator,
    rationale: `${numerator} of ${denominator} evaluated units meet the criterion.`,
  };
}

function optionalFields(seed: number, report: number, rank: number): Partial<ReadinessReport> {
  const bits = hash(seed, report, ASPECT.commit);
  if (bits % 17 === 0) return {};
  return {
    commitHash: hexDigits(seed, report, 40),
    branch: BRANCHES[bits % BRANCHES.length] ?? 'main',
    hasLocalChanges: bits % 5 === 0,
    hasNonRemoteCommits: bits % 7 === 0,
    ...(bits % 4 === 0
      ? {}
      : {
          modelUsed: {
            id: MODELS[bits % MODELS.length] ?? MODELS[0],
            reasoningEffort: EFFORTS[(bits >>> 4) % EFFORTS.length] ?? 'off',
          },
        }),
    droidVersion: `0.${40 + Math.floor(rank / 20)}.${bits % 10}`,
  };
}
