import { type Query, readInteger, single } from '../params.ts';
import { Refusal } from '../problem.ts';
import { distort } from '../render/distort.ts';
import { renderReport } from '../render/readiness.ts';
import type { EndpointContext } from './context.ts';

/**
 * Answers the readiness list (specification, section 4.3) as JSON text: the reports after `startAfter`, at most
 * `limit` and never more than the server's cap.
 * @throws {Refusal} 400 for a limit that is not a positive integer, or a startAfter that is no report.
 */
export function answerReadiness(context: EndpointContext, query: Query): string {
  const { reports, reportChanges, reportList, quirks } = context;
  const begin = placeAfterCursor(context, query);
  const limit = reportLimit(context, query);
  const repoId = single(query, 'repoId');
  const page: string[] = [];
  for (let place = begin; place < reportList.numbers.length && page.length < limit; place++) {
    const report = reportList.numbers[place] ?? 0;
    if (repoId !== null && reports.repositoryId(reports.repositoryOf(report)) !== repoId) continue;
    const body = renderReport(reports, reportChanges, report, quirks);
    // Metrics of a report are not optional, so only unknown fields can reach it.
    page.push(JSON.stringify(distort(body, body.reportId, { ...quirks, nullMetrics: 0 })));
  }
  const tail = quirks.unknownFields ? ',"emulator_extra":{"note":"not in the specification"}' : '';
  return `{"reports":[${page.join(',')}]${tail}}`;
}

/** Which page of its walk a request asks for, from 1; what fault rules match on. */
export function readinessPageNumber(context: EndpointContext, query: Query): number {
  const startAfter = query.get('startAfter');
  if (startAfter === null) return 1;
  return 1 + Math.ceil((context.reportList.placeOf(startAfter) + 1) / reportLimit(context, query));
}

function placeAfterCursor({ reportList }: EndpointContext, query: Query): number {
  const startAfter = single(query, 'startAfter');
  if (startAfter === null) return 0;
  const place = reportList.placeOf(startAfter);
  if (place < 0) throw new Refusal(400, 'Invalid startAfter: there is no such report');
  return place + 1;
}

function reportLimit({ quirks }: EndpointContext, query: Query): number {
  const limit = readInteger(query, 'limit', { min: 1, max: Number.MAX_SAFE_INTEGER });
  return Math.min(limit ?? quirks.readinessLimitCap, quirks.readinessLimitCap);
}
