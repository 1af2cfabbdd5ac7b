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
      'pending (not pulled to its end yet), awaiting (empty and young), loaded, empty, quarantined or failed',
    ),
    rows: count('rows of the unit over all its tables'),
    content_sha256: label('SHA-256 of the rows of the unit; NULL before the first load'),
    attempts: count('times the unit was pulled, also in vain'),
    requests: count('requests that this took'),
    first_loaded_at: moment('when content was first stored'),
    last_pulled_at: moment('when it was last pulled'),
    changed_at: moment('when a pull last changed the content'),
    settled_at: moment('when it was settled; NULL while every run pulls it again'),
    cursor: json(
      'what the next pull needs to know: where a walk goes on, or a digest of the answers of the day',
    ),
    last_error: label('why the last pull failed; NULL if it did not'),
  },
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
