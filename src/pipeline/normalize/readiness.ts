import type { AnyTable } from '../../../schema/define.ts';
import { inKeyOrder } from '../../../schema/order.ts';
import { tables } from '../../../schema/tables.ts';
import type { ReadinessReport } from '../../api/shapes/readiness.ts';
import type { TableRows, Value } from '../../warehouse/port.ts';
import { flagOf, type NormalizeContext, orNull } from './context.ts';

/** The reasoning efforts that the specification names for an evaluation; others are kept and reported as drift. */
const EFFORTS = ['low', 'medium', 'high', 'off'] as const;

const REPORT_FIELDS = new Set([
  'reportId',
  'createdAt',
  'repoUrl',
  'apps',
  'report',
  'commitHash',
  'branch',
  'hasLocalChanges',
  'hasNonRemoteCommits',
  'modelUsed',
  'droidVersion',
]);
const MODEL_FIELDS = new Set(['id', 'reasoningEffort']);
const APP_FIELDS = new Set(['description']);
const CRITERION_FIELDS = new Set(['numerator', 'denominator', 'rationale']);

interface Report {
  readonly row: Value[];
  readonly apps: Value[][];
  readonly criteria: Value[][];
}

/**
 * Collects the rows of a page of readiness reports: the reports, their applications and their criteria. A repeated
 * report counts once, and of two that contradict each other the last one counts.
 */
export function normalizeReadiness() {
  const reports = new Map<string, Report>();
  return {
    add(record: ReadinessReport, context: NormalizeContext): void {
      const report = {
        row: rowOf(record, context),
        apps: appsOf(record, context),
        criteria: criteriaOf(record, context),
      };
      const known = reports.get(record.reportId);
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(report)) {
        context.findings.warn(
          `readiness report ${record.reportId} was answered twice with different values; the last one is kept`,
        );
      }
      reports.set(record.reportId, report);
    },
    finish: (): TableRows[] => {
      const all = [...reports.values()];
      return [
        inOrder(
          tables.readinessReports,
          all.map(({ row }) => row),
        ),
        inOrder(
          tables.readinessReportApps,
          all.flatMap(({ apps }) => apps),
        ),
        inOrder(
          tables.readinessReportCriteria,
          all.flatMap(({ criteria }) => criteria),
        ),
      ];
    },
  };
}

function inOrder(table: AnyTable, rows: Value[][]): TableRows {
  return { table, rows: inKeyOrder(table, rows) };
}

function appsOf(
  { reportId, apps }: ReadinessReport,
  { orgId, findings, exact }: NormalizeContext,
): Value[][] {
  const source = { place: 'reports[].apps[*]', exact };
  return Object.entries(apps).map(([path, app]) => [
    orgId,
    reportId,
    path,
    orNull(app.description),
    findings.extra(app, APP_FIELDS, source),
  ]);
}

function criteriaOf(
  { reportId, report }: ReadinessReport,
  { orgId, findings, exact }: NormalizeContext,
): Value[][] {
  const source = { place: 'reports[].report[*]', exact };
  return Object.entries(report).map(([id, criterion]) => [
    orgId,
    reportId,
    id,
    orNull(criterion.numerator),
    orNull(criterion.denominator),
    orNull(criterion.rationale),
    findings.extra(criterion, CRITERION_FIELDS, source),
  ]);
}

function rowOf(report: ReadinessReport, { orgId, findings, exact }: NormalizeContext): Value[] {
  const model = report.modelUsed ?? {};
  findings.expectOneOf(EFFORTS, model.reasoningEffort, 'reports[].modelUsed.reasoningEffort');
  const text = findings.extra(model, MODEL_FIELDS, { place: 'reports[].modelUsed', exact });
  return [
    orgId,
    report.reportId,
    // A fraction is rounded: neither database nor a Date holds less than a millisecond of it.
    new Date(Math.round(report.createdAt)).toISOString(),
    report.repoUrl,
    orNull(report.commitHash),
    orNull(report.branch),
    flagOf(report.hasLocalChanges),
    flagOf(report.hasNonRemoteCommits),
    orNull(model.id),
    orNull(model.reasoningEffort),
    orNull(report.droidVersion),
    findings.extra(report, REPORT_FIELDS, { place: 'reports[]', exact }, { name: 'modelUsed', text }),
  ];
}
