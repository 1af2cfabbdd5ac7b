import type { AnyTable } from '../../../schema/define.ts';
import { encoderOf, inKeyOrder, type TableRows, type Values } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { ReadinessReport } from '../../contract/index.ts';
import type { NormalizeContext } from './records.ts';
import { mapping } from './records.ts';

const { readinessReports, readinessReportApps, readinessReportCriteria } = tables;

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

const encodeReport = encoderOf(readinessReports);
const appRow = mapping(readinessReportApps, {
  place: 'reports[].apps[*]',
  given: ['report_id', 'app_path'],
});
const criterionRow = mapping(readinessReportCriteria, {
  place: 'reports[].report[*]',
  given: ['report_id', 'criterion_id'],
});

interface ReportRows {
  readonly report: Values;
  readonly apps: readonly Values[];
  readonly criteria: readonly Values[];
}

/**
 * Collects the rows of a page of readiness reports: the reports, their applications and their criteria. A repeated
 * report counts once. A report with two contradicting records is held.
 */
export function normalizeReadiness() {
  const reports = new Map<string, ReportRows>();
  return {
    add(record: ReadinessReport, context: NormalizeContext): void {
      const rows = rowsOf(record, context);
      const known = reports.get(record.reportId);
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rows)) {
        const reason = 'the same report came twice with different values';
        const from = { record, place: 'reports[]', exact: context.exact, reason };
        context.findings.holdContradiction({ table: readinessReports, row: rows.report }, from);
      }
      reports.set(record.reportId, rows);
    },
    finish: (): TableRows[] => {
      const all = [...reports.values()];
      return [
        inOrder(
          readinessReports,
          all.map(({ report }) => report),
        ),
        inOrder(
          readinessReportApps,
          all.flatMap(({ apps }) => apps),
        ),
        inOrder(
          readinessReportCriteria,
          all.flatMap(({ criteria }) => criteria),
        ),
      ];
    },
  };
}

function inOrder(table: AnyTable, rows: readonly Values[]): TableRows {
  return { table, rows: inKeyOrder(table, rows) };
}

function rowsOf(record: ReadinessReport, context: NormalizeContext): ReportRows {
  const { reportId: report_id } = record;
  return {
    report: valuesOf(record, context),
    apps: Object.entries(record.apps).map(([app_path, app]) => appRow(app, { report_id, app_path }, context)),
    criteria: Object.entries(record.report).map(([criterion_id, criterion]) =>
      criterionRow(criterion, { report_id, criterion_id }, context),
    ),
  };
}

function valuesOf(report: ReadinessReport, { orgId, findings, exact }: NormalizeContext): Values {
  const model = report.modelUsed ?? {};
  findings.expectOneOf(EFFORTS, model.reasoningEffort, 'reports[].modelUsed.reasoningEffort');
  const text = findings.extra(model, MODEL_FIELDS, { place: 'reports[].modelUsed', exact });
  return encodeReport({
    org_id: orgId,
    report_id: report.reportId,
    // Rounded, because a Date and the text of an instant hold whole milliseconds only.
    created_at: new Date(Math.round(report.createdAt)).toISOString(),
    repo_url: report.repoUrl,
    commit_hash: report.commitHash ?? null,
    branch: report.branch ?? null,
    has_local_changes: flagOf(report.hasLocalChanges),
    has_non_remote_commits: flagOf(report.hasNonRemoteCommits),
    model_id: model.id ?? null,
    model_reasoning_effort: model.reasoningEffort ?? null,
    droid_version: report.droidVersion ?? null,
    extra: findings.extra(report, REPORT_FIELDS, { place: 'reports[]', exact }, { name: 'modelUsed', text }),
  });
}

function flagOf(value: boolean | null | undefined): 0 | 1 | null {
  if (value === null || value === undefined) return null;
  return value ? 1 : 0;
}
