import { extraColumn, flag, instant, key, label, metric, orgColumn, table, text } from '../define.ts';

const reportId = { ...orgColumn, report_id: key('ID of the report, a UUID') };

export const readinessReports = table({
  name: 'readiness_reports',
  doc: 'Agent-readiness evaluations of repositories: one row per report.',
  role: 'readiness',
  stream: 'readiness',
  by: reportId,
  values: {
    created_at: instant('when the report was created, rounded to the millisecond'),
    repo_url: text('URL of the evaluated repository'),
    commit_hash: label('commit at the time of the evaluation'),
    branch: label('branch at the time of the evaluation'),
    has_local_changes: flag('1 if there were uncommitted changes'),
    has_non_remote_commits: flag('1 if there were unpushed commits'),
    model_id: label('the model that evaluated the repository'),
    model_reasoning_effort: label('its reasoning effort: low, medium, high or off'),
    droid_version: label('version of the command line tool that created the report'),
    ...extraColumn,
  },
});

export const readinessReportApps = table({
  name: 'readiness_report_apps',
  doc: 'Applications that a report found in its repository: one row per application.',
  role: 'readiness',
  stream: 'readiness',
  by: { ...reportId, app_path: key('path of the application in the repository') },
  values: { description: label('description of the application'), ...extraColumn },
});

export const readinessReportCriteria = table({
  name: 'readiness_report_criteria',
  doc: 'Criteria of a report: one row per criterion. New criteria can appear at any time.',
  role: 'readiness',
  stream: 'readiness',
  by: { ...reportId, criterion_id: key('ID of the criterion') },
  values: {
    numerator: metric('number of sub-applications that pass; NULL if the criterion was skipped'),
    denominator: metric('number of evaluated sub-applications'),
    rationale: label('explanation of the result'),
    ...extraColumn,
  },
});
