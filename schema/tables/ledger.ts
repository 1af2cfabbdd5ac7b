import {
  count,
  day,
  instant,
  integer,
  json,
  key,
  label,
  moment,
  orgColumn,
  record,
  table,
  text,
} from '../define.ts';

const stream = { ...orgColumn, stream: key('tokens, tools, activity, productivity, users or readiness') };
const unit = { ...stream, date: key("UTC day; '' for readiness") };

export const exportUnits = table({
  name: 'export_units',
  doc: 'The ledger: one row per unit that was ever pulled. It is the checkpoint from which a run resumes.',
  role: 'ledger',
  by: unit,
  values: {
    state: text(
      'pending (not pulled to its end yet), awaiting (pulled without activity, not settled), loaded, empty, doubted (an ' +
        'answer would have removed stored rows), quarantined or failed',
    ),
    rows: count('rows of the unit over all its tables'),
    content_sha256: label('SHA-256 of the rows of the unit; NULL before the first load'),
    attempts: count('times the unit was pulled, also in vain'),
    requests: count('requests that this took'),
    first_loaded_at: moment('when content was first stored'),
    last_pulled_at: moment('when it was last pulled'),
    changed_at: moment('when a pull last changed the content'),
    settled_at: moment('when it was settled; NULL while every run pulls it again'),
    cursor: json('where the walk of the readiness reports resumes'),
    last_error: label('why the last pull failed; NULL if it did not'),
    answers_sha256: label(
      'SHA-256 of the answers that the rows were made of; NULL where they were not kept apart',
    ),
    doubted_at: moment('when the present doubt began; NULL without one'),
    doubt: json('the present doubt: its rule, the days on which it was found, and which rows are missing'),
    confirmed: label(
      'why the unit settled: data (it has rows with activity), agreed (no stream of the day has any) or age ' +
        '(never confirmed); NULL while it is not settled',
    ),
    run_id: label('run that last changed the content'),
    active_users: integer(
      'users that the content counts as active: rows of users, daily_active_users of activity; NULL for other streams',
    ),
    watch: json(
      'what looks at the settled unit found: a noted difference, and the one it was last reopened for',
    ),
  },
});

export const exportState = table({
  name: 'export_state',
  doc: 'What runs learn about an organization and remember: how far the watch has come, and the longest range of days.',
  role: 'ledger',
  by: { org_id: key("organization; '' for the warehouse itself"), name: key('what is remembered') },
  values: { value: record('what is known of it, as JSON') },
});

export const exportRuns = table({
  name: 'export_runs',
  doc: 'One row per run. A run without ended_at was killed or is under way.',
  role: 'ledger',
  by: { run_id: key('run') },
  values: {
    org_id: label('organization; NULL where the run ended before it knew'),
    command: text('command that ran'),
    started_at: instant('start'),
    ended_at: moment('end'),
    exit_code: integer('exit code'),
    units_done: count('units committed'),
    units_failed: count('units that failed'),
    rows_written: count('fact rows inserted, updated or deleted'),
    requests: count('requests sent'),
    retries: count('requests that repeated another'),
    versions: record('object: versions of this program, Node and the schema'),
  },
});

export const restatements = table({
  name: 'restatements',
  doc: 'Every change of a number that was already stored: what it was, what it is.',
  role: 'ledger',
  by: { ...unit, detected_at: instant('instant of the pull that found the change') },
  values: {
    before: record('object: rows and the sum of each additive column, before'),
    after: record('the same, after'),
  },
});

export const quarantine = table({
  name: 'quarantine',
  doc: 'Records that the service sent and that could not be stored, until a later pull brings them right.',
  role: 'ledger',
  by: { ...unit, record_sha256: key('SHA-256 of the record') },
  values: {
    reason: text('why it was set aside'),
    path: text('where in the record'),
    record: record('the record as it was sent'),
    first_seen_at: instant('when it was first seen'),
    accepted_at: moment(
      'when a person accepted it: it no longer counts for the exit code; NULL while it counts',
    ),
  },
});

export const schemaDrift = table({
  name: 'schema_drift',
  doc: 'Where the answers of the service went beyond what this version knows; each place once.',
  role: 'ledger',
  by: { ...stream, path: key('place in the answer, for example data[].by_tool[].new_field') },
  values: {
    kind: text('unknown field, wrong type or new value'),
    sample: label('a value seen there'),
    first_seen_on: day('day of the unit in which it was first seen'),
  },
});
