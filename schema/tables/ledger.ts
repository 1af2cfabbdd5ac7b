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
  doc: 'The ledger: one row per unit that was ever pulled. A run resumes from it.',
  role: 'ledger',
  by: unit,
  values: {
    state: text(
      'pending (not pulled completely), awaiting (pulled without activity, not settled), loaded, empty, doubted (a ' +
        'response would have removed stored rows), quarantined, failed, or expired (of users: older than rows about people are kept)',
    ),
    rows: count('number of rows of the unit in all its tables'),
    content_sha256: label('SHA-256 of the rows of the unit; NULL before anything was stored'),
    attempts: count('how often the unit was pulled, including failures'),
    requests: count('how many requests these pulls needed'),
    first_loaded_at: moment('when content was first stored'),
    last_pulled_at: moment('when the unit was last pulled'),
    changed_at: moment('when a pull last changed the content'),
    settled_at: moment('when the unit settled or expired; NULL while every run re-pulls it'),
    cursor: json('where the walk through the readiness reports resumes'),
    last_error: label('why the last pull failed; NULL if it succeeded'),
    answers_sha256: label('SHA-256 of the responses that the rows came from; NULL if it was not recorded'),
    doubted_at: moment('when the current doubt began; NULL without a doubt'),
    doubt: json('the current doubt: its rule, the days on which runs found it, and the missing rows'),
    confirmed: label(
      'why the unit settled: data (it has rows with activity), agreed (no stream of the day has any) or age ' +
        '(never confirmed, or with records in quarantine); NULL while it is not settled',
    ),
    run_id: label('the run that last changed the content'),
    active_users: integer(
      'number of active users in the content: rows of users, daily_active_users of activity; NULL for other streams',
    ),
    watch: json(
      'what later runs need to know: the looks at a unit that has not settled, what others found in the last two weeks, and a ' +
        'difference that the watch noted',
    ),
  },
});

export const exportState = table({
  name: 'export_state',
  doc: 'What runs remember about an organization: how far the watch has come, the longest allowed range of days, and the keys that answer for it, as salted hashes.',
  role: 'ledger',
  by: { org_id: key("ID of the organization; '' for the warehouse itself"), name: key('name of the value') },
  values: { value: record('the value, as JSON') },
});

export const exportRuns = table({
  name: 'export_runs',
  doc: 'One row per run. A run without ended_at is in progress or was killed.',
  role: 'ledger',
  by: { run_id: key('ID of the run') },
  values: {
    org_id: label(
      'ID of the organization; NULL if the run ended before it knew the ID, and no earlier one did',
    ),
    command: text('the command'),
    started_at: instant('when the run started'),
    ended_at: moment('when the run ended'),
    exit_code: integer('exit code'),
    units_done: count('number of units committed'),
    units_failed: count('number of units that failed'),
    rows_written: count('number of fact rows inserted, updated or deleted'),
    requests: count('number of requests sent'),
    retries: count('number of requests that were retries'),
    versions: record('JSON object: versions of Daywalk, Node and the schema'),
    responses: json(
      'JSON object: number of responses by HTTP status. A request without a response is missing. NULL for runs of older versions',
    ),
    completed: json(
      'JSON array: streams that the run brought up to yesterday, by committing every unit of them that it planned. NULL ' +
        'for runs of older versions',
    ),
  },
});

export const organizations = table({
  name: 'organizations',
  doc: 'Which organization each name of the organizations file belongs to: one row per name.',
  role: 'ledger',
  by: { name: key('name in the organizations file') },
  values: {
    org_id: text('ID of the organization, as the service named it for the key of this name'),
    first_seen_at: instant('when a run first recorded the name'),
  },
});

export const erased = table({
  name: 'erased',
  doc: 'Who was erased: one row per user ID, email address or organization, without their values. Every write asks this list.',
  role: 'ledger',
  by: {
    ...orgColumn,
    kind: key('user, email or organization'),
    subject_hmac: key('HMAC-SHA-256 of the value, with the key of the warehouse'),
  },
  values: {
    pseudonym: text('what replaces the value'),
    erased_at: instant('when it was erased'),
    certificate: json('what was changed where; NULL until the erasure is complete'),
  },
});

export const identity = table({
  name: 'identity',
  doc: 'Which warehouse this is: one row. A copy of its file has the same row; a warehouse that Daywalk copied has its own.',
  role: 'ledger',
  by: { name: key('always warehouse') },
  values: {
    warehouse_id: text('UUID of the warehouse'),
    parents: record('JSON array: UUIDs of the warehouses that it was made from, the last one first'),
    made_at: instant('when it got this UUID'),
    made_by: text('what made it: run, copy, restore, replay or publish'),
  },
});

export const acts = table({
  name: 'acts',
  doc: 'What was done to the warehouse and cannot be pulled again: one row per act.',
  role: 'ledger',
  by: { act_id: key('UUID of the act') },
  values: {
    kind: text('erasure, people, prices, budgets, events, sessions, hook events, quarantine or restore'),
    done_at: instant('when it was done'),
  },
});

export const archives = table({
  name: 'archives',
  doc: 'The archives that runs have met, with the last things known to be in each: one row per archive.',
  role: 'ledger',
  by: { archive_id: key('UUID of the archive') },
  values: {
    place: text('where it was last met'),
    marks: record('JSON object: the last two marks of each kind that are durable in the archive'),
    lost: record('JSON array: marks that the archive was found without, and was accepted without'),
    first_met_at: instant('when a run first met it'),
    last_met_at: instant('when a run last met it'),
    ended_at: moment('when a person said that it is no longer expected; NULL while it is'),
  },
});

export const restatements = table({
  name: 'restatements',
  doc: 'One row per change of a number that was already stored, with the values before and after.',
  role: 'ledger',
  by: { ...unit, detected_at: instant('when a pull found the change') },
  values: {
    before: record('JSON object before the change: number of rows, and the sum of each additive column'),
    after: record('the same after the change'),
  },
});

/** Stands in place of a record in quarantine that is older than records keep their text, as JSON. */
export const WITHHELD_RECORD = JSON.stringify('[withheld]');

export const quarantine = table({
  name: 'quarantine',
  doc:
    'Records that could not be stored, or that say something impossible. A record leaves when a later pull brings it in good ' +
    'form.',
  role: 'ledger',
  by: { ...unit, record_sha256: key('SHA-256 of the record') },
  values: {
    reason: text('why the record was set aside'),
    path: text('where in the response'),
    record: record(
      'the record as the service sent it; "[withheld]" if it is older than records keep their text',
    ),
    first_seen_at: instant('when the record was first seen'),
    accepted_at: moment(
      'when it stopped counting for the exit code: a person accepted it, or it says something impossible and came unchanged ' +
        'for 7 days; NULL while it counts',
    ),
  },
});

export const schemaDrift = table({
  name: 'schema_drift',
  doc: 'Parts of responses that this version does not know: one row per place.',
  role: 'ledger',
  by: { ...stream, path: key('place in the response, for example data[].by_tool[].new_field') },
  values: {
    kind: text('unknown field, wrong type or new value'),
    sample: label('an example value'),
    first_seen_on: day('day of the unit that had it first'),
  },
});
