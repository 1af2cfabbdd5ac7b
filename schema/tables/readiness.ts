import { extraColumn, flag, instant, key, label, metric, orgColumn, table, text } from '../define.ts';

const reportId = { ...orgColumn, report_id: key('report, a UUID') };

export const readinessReports = table({
  name: 'readiness_reports',
  doc: 'Agent-readiness evaluations of repositories, one row per report.',
  role: 'readiness',
  stream: 'readiness',
  by: reportId,
  values: {
    created_at: instant('when the report was made; a fraction of a millisecond is rounded'),
    repo_url: text('repository evaluated'),
    commit_hash: label('commit at evaluation time'),
    branch: label('branch at evaluation time'),
    has_local_changes: flag('1 where uncommitted changes existed'),
    has_non_remote_commits: flag('1 where unpushed commits existed'),
    model_id: label('model that evaluated'),
    model_reasoning_effort: label('its reasoning effort: low, medium, high or off'),
    droid_version: label('version of the command line tool that made the report'),
    ...extraColumn,
  },
});

export const readinessReportApps = table({
  name: 'readiness_report_apps',
  doc: 'Applications that a report found in its repository.',
  role: 'readiness',
  stream: 'readiness',
  by: { ...reportId, app_path: key('path of the application in the repository') },
  values: { description: label('what the application is'), ...extraColumn },
});

export const readinessReportCriteria = table({
  name: 'readiness_report_criteria',
  doc: 'Criteria of a report. Criterion ids are open-ended.',
  role: 'readiness',
  stream: 'readiness',
  by: { ...reportId, criterion_id: key('criterion') },
  values: {
    numerator: metric('sub-applications that pass; NULL where the criterion was skipped'),
    denominator: metric('sub-applications evaluated'),
    rationale: label('why, in words'),
    ...extraColumn,
  },
});
