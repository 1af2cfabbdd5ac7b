import { startOfDayMs } from '../../core/day.ts';
import { Refusal } from '../http/refusal.ts';
import { distort } from '../quirks/distort.ts';
import type { Quirks } from '../quirks/quirks.ts';
import type { World } from '../world/world.ts';
import { writeUnknownTail } from './envelope.ts';
import { selectRecords } from './lies/rows.ts';
import { type Query, readInteger, single } from './params.ts';
import { writeReport } from './rows/readiness.ts';

/**
 * Responds to the readiness list (specification, section 4.3) with JSON text: the reports after `startAfter`, at most
 * `limit` and never more than the server's cap.
 * @throws {Refusal} 400 for a limit that is not a positive integer or exceeds the maximum, or an unknown startAfter.
 */
export function answerReadiness(world: World, query: Query): string {
  const { reports } = world;
  const changes = world.revisions.reportChanges();
  const quirks = world.quirks();
  const { numbers } = world.reportList();
  const begin = placeAfterCursor(world, query);
  const limit = reportLimit(world, query);
  const repoId = single(query, 'repoId');
  const page: string[] = [];
  for (let place = begin; place < numbers.length && page.length < limit; place++) {
    const report = numbers[place] ?? 0;
    if (repoId !== null && reports.repositoryId(reports.repositoryOf(report)) !== repoId) continue;
    if (reports.createdAtMs(report, changes) >= endOfReportsMs(quirks)) continue;
    const body = writeReport(reports, changes, report, quirks);
    // The metrics of a report are required, so it can only get unknown fields.
    page.push(JSON.stringify(distort(body, body.reportId, { ...quirks, nullMetrics: 0 })));
  }
  const kept = selectRecords(page, quirks.lies, { stream: 'readiness', range: null });
  return `{"reports":[${kept.join(',')}]${writeUnknownTail(quirks)}}`;
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
  return 1 + Math.ceil((world.reportList().placeOf(startAfter) + 1) / reportLimit(world, query));
}

function placeAfterCursor({ reportList }: World, query: Query): number {
  const startAfter = single(query, 'startAfter');
  if (startAfter === null) return 0;
  const place = reportList().placeOf(startAfter);
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
