import {
  amount,
  count,
  date,
  day,
  extraColumn,
  flag,
  instant,
  integer,
  json,
  key,
  label,
  metric,
  moment,
  orgColumn,
  record,
  table,
  text,
  yesNo,
} from '../define.ts';

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
  inside: ['apps'],
  by: { ...reportId, app_path: key('path of the application in the repository') },
  values: { description: label('description of the application'), ...extraColumn },
});

export const readinessReportCriteria = table({
  name: 'readiness_report_criteria',
  doc: 'Criteria of a report: one row per criterion. New criteria can appear at any time.',
  role: 'readiness',
  stream: 'readiness',
  inside: ['report'],
  by: { ...reportId, criterion_id: key('ID of the criterion') },
  values: {
    numerator: metric('number of sub-applications that pass; NULL if the criterion was skipped'),
    denominator: metric('number of evaluated sub-applications', { least: 1 }),
    rationale: label('explanation of the result'),
    ...extraColumn,
  },
  ascending: [{ smaller: 'numerator', larger: 'denominator' }],
});

export const sessions = table({
  name: 'sessions',
  doc: 'Sessions that Daywalk created: one row per session, as it was at creation.',
  role: 'event',
  by: { ...orgColumn, session_id: key('ID of the session') },
  values: {
    title: label('title'),
    status: text('status at creation: idle, pending or running'),
    message_count: integer('number of messages'),
    created_at: instant('when the session was created'),
    updated_at: instant('when the session was last updated'),
    completed_at: moment('when the session was completed'),
    computer_id: label('ID of the connected computer'),
    session_settings: json('settings of the session, as the service returned them'),
    ...extraColumn,
  },
});

export const hookEvents = table({
  name: 'hook_events',
  doc: 'Hook events of the client tool: one row per event.',
  role: 'event',
  by: { ...orgColumn, event_id: key('SHA-256 of the event and of its place in order') },
  values: {
    received_at: instant('when the event was received'),
    hook_event_name: label('name of the event, for example Stop'),
    session_id: label('ID of the session in the client tool'),
    cwd: label('working directory'),
    message: label('message, for the event Notification'),
    reason: label('reason, for the event SessionEnd'),
    payload: record('the whole event as it was received'),
  },
});

export const people = table({
  name: 'people',
  doc: 'Who belongs to which team, and when: one row per person and period, as `daywalk people load` stored it.',
  role: 'dimension',
  by: {
    ...orgColumn,
    person: key('user ID or email address of the person, the email as DAYWALK_EMAILS stores it'),
    valid_from: day('first day of the period'),
  },
  values: {
    valid_to: date('last day of the period; NULL if it has no end'),
    name: label('name of the person; NULL unless DAYWALK_EMAILS is keep'),
    team: label('team; NULL if none was given'),
    department: label('department'),
    cost_center: label('cost center'),
    manager_email: label('email address of the manager, as DAYWALK_EMAILS allows'),
  },
});

export const prices = table({
  name: 'prices',
  doc: 'What a million billable tokens cost, and when: one row per period, as `daywalk prices load` stored it.',
  role: 'dimension',
  by: { ...orgColumn, valid_from: day('first day of the period') },
  values: {
    valid_to: date('last day of the period; NULL if it has no end'),
    currency: text('ISO 4217 code of the currency'),
    price_per_million: amount('price of a million billable tokens in this currency'),
  },
});

export const budgets = table({
  name: 'budgets',
  doc: 'The budget of each team and month, as `daywalk budget load` stored it.',
  role: 'dimension',
  by: { ...orgColumn, month: key('month, YYYY-MM'), team: key('team') },
  values: {
    amount: amount('budget of the month in this currency'),
    currency: text('ISO 4217 code of the currency'),
  },
});

export const events = table({
  name: 'events',
  doc: 'What happened on a day and explains its numbers, and the days on which nobody works, as `daywalk events load` stored it.',
  role: 'dimension',
  by: {
    ...orgColumn,
    date: day('the day'),
    team: key("the team that it is about; '' if it is about all"),
    text: key('what happened; several events of a day and team are several rows'),
  },
  values: { closed: yesNo('1 if the team, or the whole organization, does not work on this day') },
});

export const publishedWeeks = table({
  name: 'published_weeks',
  doc:
    'What reports for a team or the public may show of a week, computed once and never changed: one row per block and metric. ' +
    'A row without a metric says that nothing is shown of its dimension, because it would be about too few people.',
  role: 'ledger',
  by: {
    ...orgColumn,
    week_start: day('Monday of the week'),
    dimension: key(
      'total, team, tier, model, delegation_level, language, or currency of the cost of the total (XXX: not known)',
    ),
    block: key("the group; others for groups together; '' for the total"),
    metric: key("name of the metric, see docs/metrics.md; '' if the dimension is not shown"),
  },
  values: {
    people: integer(
      'number of distinct people who were active in the block and week; NULL if it is not known',
    ),
    value: metric('value of the metric; NULL if it is not shown'),
  },
});

export const contracts = table({
  name: 'contracts',
  doc: 'What is expected of the export of an organization: the first day, the streams, and how old its last complete export may be. Each run stores it, and everything that speaks of holes or lateness reads it here.',
  role: 'ledger',
  by: { org_id: key('ID of the organization') },
  values: {
    first_day: day('first UTC day that is expected'),
    streams: text(
      'the expected streams, separated by commas; one with a minus would be expected if something were kept of users',
    ),
    max_age_seconds: count('how long after its last complete export an organization counts as late'),
    changed_at: instant('when a run last changed it'),
  },
});
