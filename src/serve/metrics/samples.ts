import { dayOf, startOfDayMs } from '../../core/day.ts';
import { STREAMS, type Stream } from '../../core/stream.ts';
import { BUDGET_STATES } from '../../metrics/money/judge-budget.ts';
import { type Sample, sample } from './definitions.ts';
import type { OrganizationFacts } from './organization-facts.ts';
import type { EndedRun } from './run-facts.ts';

/** The status of a request without a response. */
const NO_RESPONSE = 'none';

/** The samples of an organization. Pure. */
export function samplesOf(facts: OrganizationFacts, now: Date): Sample[] {
  const { organization, status, runs, budgets } = facts;
  const own = { organization };
  const { last, responses } = runs;
  const answered = [...responses.values()].reduce((sum, count) => sum + count, 0);
  return [
    ...STREAMS.flatMap((stream) => samplesOfStream(stream, facts)),
    sample('oldestUnsettledDay', own, startOfDayMs(status.oldestUnsettledDay ?? dayOf(now)) / 1000),
    sample('holes', own, facts.missingDays.length),
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
  { organization, status, runs, quarantined, restatements }: OrganizationFacts,
): Sample[] {
  const own = { organization, stream };
  const completedAt = runs.completedAt.get(stream);
  const { units = {}, newestDataDay: newest = null } =
    status.streams.find((each) => each.stream === stream) ?? {};
  return [
    sample('lastSuccess', own, completedAt === undefined ? 0 : Date.parse(completedAt) / 1000),
    ...Object.entries<number>(units).map(([state, count]) => sample('units', { ...own, state }, count)),
    ...(newest === null ? [] : [sample('newestData', own, startOfDayMs(newest) / 1000)]),
    sample('quarantined', own, quarantined.get(stream) ?? 0),
    sample('restatements', own, restatements.get(stream) ?? 0),
  ];
}
