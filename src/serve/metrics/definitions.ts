import type { BackupNotes } from '../../backup/index.ts';
import { dayOf, startOfDayMs } from '../../core/day.ts';
import { STREAMS, type Stream } from '../../core/stream.ts';
import { BUDGET_STATES } from '../../csv-files/index.ts';
import { MISSING_AFTER_DAYS } from '../../expected/index.ts';
import { OPEN_STATES } from '../../status/index.ts';
import type { EndedRun, OrganizationFacts } from './organization-facts.ts';

/** A metric: what Prometheus needs to know of it, and what a person should. */
export interface MetricDefinition {
  /** It ends with `_total` if it counts, otherwise it is a gauge, see {@link isCounter}. */
  readonly name: string;
  /** One sentence. It is part of every answer. */
  readonly help: string;
  readonly labels: readonly string[];
}

/** True for a metric that only grows. */
export function isCounter({ name }: MetricDefinition): boolean {
  return name.endsWith('_total');
}

const organization = ['organization'] as const;

/**
 * Every metric of the warehouse. Values are computed from the warehouse alone, so a restart changes none of them; the
 * exceptions say so. No label holds anything about a person.
 */
export const METRICS = {
  buildInfo: {
    name: 'daywalk_build_info',
    help: 'Always 1; the labels are the versions of Daywalk and Node.',
    labels: ['version', 'node'],
  },
  warehouseReadable: {
    name: 'daywalk_warehouse_readable',
    help: '1 if the warehouse could be read, otherwise 0; then the metrics that come from it are missing.',
    labels: [],
  },
  identityMismatch: {
    name: 'daywalk_identity_mismatch',
    help: '1 if the last round was refused because the warehouse or the archive is not the one of the last run, otherwise 0.',
    labels: [],
  },
  lostRuns: {
    name: 'daywalk_lost_runs',
    help: '1 if the last round found the warehouse or the archive without its last runs, whose days it pulled again, otherwise 0.',
    labels: [],
  },
  waitingSince: {
    name: 'daywalk_waiting_since_timestamp_seconds',
    help: 'When the service that runs wait for first failed to answer; 0 if none is waited for.',
    labels: [],
  },
  waitingWorkers: {
    name: 'daywalk_waiting_workers',
    help: 'Workers that wait for a service that does not answer.',
    labels: [],
  },
  pendingErasures: {
    name: 'daywalk_pending_erasures',
    help: 'Erasures that have begun and are not complete, and organizations that are due to be swept.',
    labels: [],
  },
  archiveLastMet: {
    name: 'daywalk_archive_last_run_timestamp_seconds',
    help: 'When a run last wrote the archive; missing for archives that are no longer expected.',
    labels: ['archive'],
  },
  archiveBytes: {
    name: 'daywalk_archive_bytes',
    help: 'Size of the file of the archive, if it is on this machine.',
    labels: ['archive'],
  },
  archiveDamages: {
    name: 'daywalk_archive_damages',
    help: 'Damages of the archive when "daywalk archive verify" or a backup last read all of it; missing before.',
    labels: ['archive'],
  },
  lastSuccess: {
    name: 'daywalk_last_success_timestamp_seconds',
    help: 'End of the last run that brought the stream up to yesterday; 0 if there was none; missing for a stream that is not expected.',
    labels: ['organization', 'stream'],
  },
  maxAge: {
    name: 'daywalk_max_age_seconds',
    help: 'How long after its last complete export the organization counts as late, as the last run stored it.',
    labels: organization,
  },
  expected: {
    name: 'daywalk_expected',
    help: '1 for a stream that is expected, 0 for one that is not.',
    labels: ['organization', 'stream'],
  },
  oldestUnsettledDay: {
    name: 'daywalk_oldest_unsettled_day_timestamp_seconds',
    help: 'Start of the oldest expected day that is not settled in every expected stream; today if all days before it are.',
    labels: organization,
  },
  units: {
    name: 'daywalk_units',
    help: 'Units by their state; pending includes the expected ones that were never pulled.',
    labels: ['organization', 'stream', 'state'],
  },
  holes: {
    name: 'daywalk_holes',
    help: `Expected days that ended at least ${MISSING_AFTER_DAYS} days ago, and of which an expected stream is not stored.`,
    labels: organization,
  },
  newestData: {
    name: 'daywalk_newest_data_day_timestamp_seconds',
    help: 'Start of the newest day on which the stream has activity; missing if it has none, and for readiness.',
    labels: ['organization', 'stream'],
  },
  quarantined: {
    name: 'daywalk_quarantined_records',
    help: 'Records of expected days in quarantine that nobody has accepted.',
    labels: ['organization', 'stream'],
  },
  open: {
    name: 'daywalk_open',
    help: 'Units, records or reports in each state that "daywalk status" lists as open, the most urgent state first; 1 for an open state without any.',
    labels: ['organization', 'state'],
  },
  highestOpen: {
    name: 'daywalk_highest_open_state',
    help: 'Always 1; the label is the most urgent state that is open, or none.',
    labels: ['organization', 'state'],
  },
  restatements: {
    name: 'daywalk_restatements_total',
    help: 'Stored units whose numbers the service changed later.',
    labels: ['organization', 'stream'],
  },
  lastRunEnd: {
    name: 'daywalk_last_run_end_timestamp_seconds',
    help: 'When the last run ended, whatever its result. Backfills and replays do not count.',
    labels: organization,
  },
  lastRunExitCode: {
    name: 'daywalk_last_run_exit_code',
    help: 'Exit code of the last run. Backfills and replays do not count. A run that could not begin counts until a later one ends or serve restarts.',
    labels: organization,
  },
  runDuration: {
    name: 'daywalk_run_duration_seconds',
    help: 'Duration of the last run. Backfills and replays do not count.',
    labels: organization,
  },
  rowsWritten: {
    name: 'daywalk_rows_written_total',
    help: 'Fact rows that all ended runs inserted, updated or deleted.',
    labels: organization,
  },
  requests: {
    name: 'daywalk_requests_total',
    help: 'Requests that all ended runs sent, including retries and redirects.',
    labels: organization,
  },
  retries: {
    name: 'daywalk_request_retries_total',
    help: 'Requests of all ended runs that were retries.',
    labels: organization,
  },
  httpRequests: {
    name: 'daywalk_http_requests_total',
    help: 'Requests of all ended runs by the status of the response; none if no response came, or if an older version sent them.',
    labels: ['organization', 'status'],
  },
  budgets: {
    name: 'daywalk_budgets',
    help: 'Teams with a budget for the month of the newest loaded day, by the state of the budget.',
    labels: ['organization', 'status'],
  },
  lastBackup: {
    name: 'daywalk_last_backup_timestamp_seconds',
    help: 'When the last backup was taken; missing until daywalk backup was used.',
    labels: [],
  },
  lastRestoreTest: {
    name: 'daywalk_last_restore_test_timestamp_seconds',
    help: 'When daywalk restore --test last succeeded; missing until it was used.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

/** The metrics of the service itself, which only `/metrics` has. They begin again with each start. */
export const SERVICE_METRICS = {
  nextRound: {
    name: 'daywalk_next_round_timestamp_seconds',
    help: 'When the next round begins; missing while one is in progress.',
    labels: [],
  },
  rounds: {
    name: 'daywalk_rounds_total',
    help: 'Rounds since the start of the service.',
    labels: [],
  },
  roundsBroken: {
    name: 'daywalk_rounds_broken_total',
    help: 'Rounds since the start of the service that a defect ended.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

/** The name of a metric in the code. */
type MetricKey = keyof typeof METRICS;

/** The labels of a metric with their values. */
type LabelsOf<Key extends MetricKey> = Readonly<Record<(typeof METRICS)[Key]['labels'][number], string>>;

/** A value of a metric under its labels. */
export interface Sample<Key extends MetricKey = MetricKey> {
  readonly metric: Key;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Makes a sample. The compiler checks that it has exactly the labels of its metric. */
export function sample<Key extends MetricKey>(metric: Key, labels: LabelsOf<Key>, value: number): Sample {
  return { metric, labels, value };
}

/** The status of a request without a response. */
const NO_RESPONSE = 'none';

/** The samples of an organization. Pure. */
export function samplesOf(facts: OrganizationFacts, now: Date): Sample[] {
  const { organization, status, runs, budgets } = facts;
  const own = { organization };
  const { last, responses } = runs;
  const answered = [...responses.values()].reduce((sum, count) => sum + count, 0);
  return [
    sample('maxAge', own, status.contract.maxAgeSeconds),
    ...STREAMS.flatMap((stream) => samplesOfStream(stream, facts)),
    sample('oldestUnsettledDay', own, startOfDayMs(status.oldestUnsettledDay ?? dayOf(now)) / 1000),
    sample('holes', own, new Set(status.missing.map(({ day }) => day)).size),
    ...OPEN_STATES.map((state) => {
      const open = status.open.find((found) => found.state === state);
      // The service alternates for some days after the last unit has settled.
      return sample('open', { organization, state }, open === undefined ? 0 : Math.max(open.count, 1));
    }),
    sample('highestOpen', { organization, state: status.highest ?? 'none' }, 1),
    ...(last === null ? [] : samplesOfLastRun(organization, last)),
    sample('rowsWritten', own, runs.rowsWritten),
    sample('requests', own, runs.requests),
    sample('retries', own, runs.retries),
    ...[...responses]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([code, count]) => sample('httpRequests', { organization, status: code }, count)),
    sample('httpRequests', { organization, status: NO_RESPONSE }, Math.max(0, runs.requests - answered)),
    ...BUDGET_STATES.map((state) =>
      sample('budgets', { organization, status: state }, budgets.get(state) ?? 0),
    ),
  ];
}

/** When the last backup was taken, and when a restore was last tested. */
export function samplesOfBackups({ backup, restoreTest }: BackupNotes): Sample[] {
  return [
    ...(backup === null ? [] : [sample('lastBackup', {}, Date.parse(backup.at) / 1000)]),
    ...(restoreTest === null ? [] : [sample('lastRestoreTest', {}, Date.parse(restoreTest.at) / 1000)]),
  ];
}

/** The samples of a run that has ended. */
export function samplesOfLastRun(organization: string, run: EndedRun): Sample[] {
  const [startMs, endMs] = [Date.parse(run.startedAt), Date.parse(run.endedAt)];
  return [
    sample('lastRunExitCode', { organization }, run.exitCode),
    sample('lastRunEnd', { organization }, endMs / 1000),
    sample('runDuration', { organization }, Math.max(0, endMs - startMs) / 1000),
  ];
}

function samplesOfStream(
  stream: Stream,
  { organization, status, quarantined, restatements }: OrganizationFacts,
): Sample[] {
  const own = { organization, stream };
  const {
    isExpected = false,
    units = {},
    lastCompleteAt = null,
    newestDataDay: newest = null,
  } = status.streams.find((each) => each.stream === stream) ?? {};
  // What is not expected is stored at most, and no alert asks for it.
  if (!isExpected) return [sample('expected', own, 0)];
  return [
    sample('expected', own, 1),
    sample('lastSuccess', own, lastCompleteAt === null ? 0 : Date.parse(lastCompleteAt) / 1000),
    ...Object.entries<number>(units).map(([state, count]) => sample('units', { ...own, state }, count)),
    ...(newest === null ? [] : [sample('newestData', own, startOfDayMs(newest) / 1000)]),
    sample('quarantined', own, quarantined.get(stream) ?? 0),
    sample('restatements', own, restatements.get(stream) ?? 0),
  ];
}
