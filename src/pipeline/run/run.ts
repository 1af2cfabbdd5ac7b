import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { IDENTITIES } from '../../../schema/invariants.ts';
import { yesterdayOf } from '../../core/day.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { AskedContract } from '../../expected/index.ts';
import type { SettleRule } from '../../judge/agreement.ts';
import { FLAPPING, looksMinOf, parseFlapping } from '../../judge/flapping.ts';
import { type CountedIdentity, countIdentities } from '../../judge/identities.ts';
import { LOOKS } from '../../judge/looks.ts';
import { readUnits, settleAfterFirstActivity } from '../../ledger/index.ts';
import { type NameInFile, recordName } from '../../organizations/index.ts';
import type { Patience } from '../../patience/index.ts';
import { readState, startRun } from '../../records/index.ts';
import { type DayUnit, isDayUnit, unitName } from '../../units/index.ts';
import { NewAddresses } from '../commit.ts';
import type { RunReport } from '../events.ts';
import { type AskedPlan, mostlyLooks, type Plan, type PlanRequest, planUnits } from '../plan.ts';
import { UnitClaims } from './claims.ts';
import { ArchivedCommits, CommitQueue } from './commit-queue.ts';
import { DayWork, type DayWorkOptions, type DayWorkParts, keepInFlight } from './day-work.ts';
import { expectKept, recordEnd, refreshAll, refreshStatistics } from './end.ts';
import { expectSameOrganization, type OrganizationConsent } from './foreign.ts';
import { KnownDays, KnownLedger } from './known-ledger.ts';
import { Outcomes } from './outcomes.ts';
import { openRangeGauge, rememberRange } from './range-gauge.ts';
import { pullReadiness } from './readiness.ts';
import { SecondLooks } from './request-again.ts';
import { countAttention, RunCounts, warnOfDisagreement } from './run-counts.ts';
import { Schedule } from './schedule.ts';
import { DaySorter } from './sort-days.ts';
import { countBefore, learnScope, type RunScope } from './start.ts';
import { Watch } from './watch.ts';
import { lookAtModelSums } from './watch-comparisons.ts';
import { lookAtPages } from './watch-pages.ts';
import { walkUsers } from './watch-walk.ts';

/**
 * Pulls and commits every planned unit. A unit that fails is recorded, and the others continue. If an error ends the run
 * early, the report holds it. May be repeated: each run resumes from the ledger.
 * @throws {StorageError} when the end of the run could not be recorded.
 */
export async function runUnits(options: RunOptions): Promise<RunReport> {
  const { clock, warehouse, command, observe, source } = options;
  const { named } = options;
  const run = { runId: randomUUID(), command, ...(named !== undefined && { organization: named.name }) };
  const startedMs = clock.monotonicMs();
  const lastDayDue = yesterdayOf(clock.now());
  const counts = new RunCounts();
  observe({ type: 'run-started', ...run, warehouse: warehouse.location });
  await startRun(warehouse, {
    runId: run.runId,
    command,
    startedAt: clock.now(),
    versions: options.versions,
  });
  let known: string | null = null;
  try {
    await walk({ ...options, runId: run.runId }, counts);
  } catch (error) {
    counts.recordEnd(error);
    if (counts.orgId === null) known = await countBefore(counts, options);
  }
  await refreshAll(options, counts);
  if (counts.rowsWritten > 0) await refreshStatistics(options);
  const { requests, retries } = source.transport.totals;
  const responses = Object.fromEntries(source.transport.responses);
  const report = counts.report(run, {
    ...{ requests, retries, responses, durationMs: clock.monotonicMs() - startedMs },
    completed: counts.completedUpTo(lastDayDue),
  });
  await recordEnd(options, { ...report, orgId: report.orgId ?? known });
  // Of a database that breaks, there may be no other trace than the log.
  const broken =
    report.exitCode === EXIT.storage ? report.problems.find(({ units }) => units === 0) : undefined;
  if (broken !== undefined) observe({ type: 'warning', ...broken });
  observe({ type: 'run-ended', report });
  return report;
}

async function walk(options: NamedRun, counts: RunCounts): Promise<void> {
  // Aborting it ends every request in flight.
  const stop = new AbortController();
  // Every request in flight listens; that is no leak.
  setMaxListeners(0, stop.signal);
  const forward = () => stop.abort(options.signal.reason);
  if (options.signal.aborted) forward();
  options.signal.addEventListener('abort', forward, { once: true });
  try {
    await walkPlan(options, counts, stop);
  } finally {
    options.signal.removeEventListener('abort', forward);
  }
}

/** What a run needs. The caller locks the warehouse and releases the lock. */
interface RunOptions extends AskedPlan, Omit<DayWorkOptions, 'force'>, OrganizationConsent {
  readonly command: string;
  /** What the settings say about the contract, see `src/expected/`. */
  readonly asked: AskedContract;
  /** Maximum number of batches in flight. */
  readonly concurrency: number;
  /** Maximum number of days per request. */
  readonly rangeDays: number;
  /** Settled days this far back are compared with the service in every run, older ones in turn; 0 is off. */
  readonly watchDays: number;
  /** Requests for the comparison of older days. @default a 31st of the pages of users of all history, at least 12 */
  readonly watchRequests?: number | null;
  /** The fewest people about whom a report for a team or the public shows a number. */
  readonly minGroup: number;
  /** Accept losses that were doubted when the run began and are no larger now. */
  readonly acceptLoss: boolean;
  /** The organization. @default what the service answers for the key */
  readonly orgId?: string | null;
  /** The key, which is bound to the organization. @default it is not */
  readonly apiKey?: string;
  /** The name of the organization, which must stand for the one that the service answers for. @default none */
  readonly named?: NameInFile | undefined;
  /** The application host has a separate credential, whose refusal says nothing about the main one. @default false */
  readonly hasAppKey?: boolean;
  /** Waits for the service, and tells when no unit may be claimed meanwhile. @default nobody waits */
  readonly patience?: Pick<Patience, 'listen'> | undefined;
  /** Aborted when the run is to end at the next unit boundary. */
  readonly signal: AbortSignal;
}

/** A run with its id. */
type NamedRun = RunOptions & { readonly runId: string };

/** A run whose gate is open for its organization. */
type AdmittedRun = NamedRun & PlanRequest & { readonly newAddresses: NewAddresses };

/** A run whose units are known. */
interface PlannedRun {
  readonly options: AdmittedRun;
  readonly counts: RunCounts;
  readonly stop: AbortController;
  readonly scope: RunScope;
  readonly rule: SettleRule & { readonly identities: readonly CountedIdentity[] };
  readonly request: PlanRequest;
  readonly ledger: KnownLedger;
  /** Whether the service alternates, as the last run stored it. */
  readonly flapping: string | null;
  readonly parts: DayWorkParts;
  readonly work: DayWork;
  /** Names of the days that the run pulls. */
  readonly toPull: Set<string>;
  /** Pulls the readiness reports if they are planned. */
  pullReadiness(): Promise<void>;
}

/**
 * Plans a run and pulls everything: the planned units and the recent settled ones together, then the older settled days,
 * then the days that turned out to differ.
 * @throws the error that ended the run before everything was pulled.
 */
async function walkPlan(options: NamedRun, counts: RunCounts, stop: AbortController): Promise<void> {
  const run = await planRun(options, counts, stop);
  const leave = options.patience?.listen(run.parts.claims.resting(options.source.hosts.baseUrl));
  try {
    const readiness = run.pullReadiness();
    await pullUntilDone(run);
    if (!stop.signal.aborted) await compareOlderDays(run);
    if (!stop.signal.aborted) await pullReopenedDays(run);
    await readiness;
  } finally {
    leave?.();
  }
  if (!stop.signal.aborted) await settleFirstDays(run);
  await finishCounts(run);
  await run.options.newAddresses.list();
  run.parts.outcomes.reportLeftOut();
  if (stop.signal.aborted) throw stop.signal.reason;
  if (options.lock.wasLost()) await expectKept(options.warehouse, run.scope.orgId, run.ledger);
}

async function planRun(given: NamedRun, counts: RunCounts, stop: AbortController): Promise<PlannedRun> {
  const { warehouse, observe, named, clock } = given;
  const scope = await learnScope(given, stop.signal);
  const { orgId, request } = scope;
  const { gate } = given.source;
  const options = {
    ...given,
    ...request,
    newAddresses: NewAddresses.of({ warehouse, clock, gate, orgId }),
  };
  const stored = await readUnits(warehouse, orgId);
  const foreign = await expectSameOrganization(options, scope, stored, stop.signal);
  if (named !== undefined) await recordName(warehouse, named, { orgId, now: clock.now() });
  const { streams: expected } = scope.contract;
  const settling = { today: scope.today, settleDays: options.settleDays, streams: expected };
  const base = { ...settling, identities: countIdentities(IDENTITIES, stored.filter(isDayUnit), settling) };
  const { activeSince, settled } = await settleAfterFirstActivity(warehouse, { orgId, rule: base });
  const flapping = await readState(warehouse, orgId, FLAPPING);
  const looksMin = looksMinOf(parseFlapping(flapping, scope.today), scope.today);
  const rule = { ...base, activeSince, ...(looksMin > LOOKS && { looks: looksMin }) };
  const planned = settled.length > 0 ? await readUnits(warehouse, orgId) : stored;
  const plan = planUnits(request, planned, { now: clock.now(), settleDays: options.settleDays });
  counts.orgId = orgId;
  counts.organizationsBefore = scope.organizationsBefore;
  counts.request = request;
  counts.planned = plan.units.length + Number(plan.readiness);
  counts.settled = plan.settled;
  const { firstDay, lastDay, streams } = request;
  observe({ type: 'planned', orgId, units: counts.planned, firstDay, lastDay, streams });

  const ledger = new KnownLedger(planned);
  const toPull = new Set(plan.units.map(unitName));
  const run = { options, counts, stop, scope, rule, request, ledger, toPull, flapping };
  const parts = await createParts(run, plan);
  if (foreign.refusedDays !== null) parts.gauge.recordRefusal(foreign.refusedDays);
  const pages = [...(scope.first === undefined ? [] : [scope.first]), ...foreign.pages];
  const work = new DayWork(options, parts, { stop, scope, rule, pages });
  const { outcomes } = parts;
  const readiness = { ...options, orgId, outcomes, counts, stop, ledger, planned };
  return {
    ...{ ...run, parts, work },
    pullReadiness: async () => (plan.readiness ? pullReadiness(readiness) : undefined),
  };
}

/** Creates the parts of a run and joins them. */
async function createParts(
  run: Omit<PlannedRun, 'parts' | 'work' | 'pullReadiness'>,
  plan: Plan,
): Promise<DayWorkParts> {
  const { options, counts, stop, scope, rule, request, ledger, toPull } = run;
  const { warehouse, observe, clock, lock, newestFirst, hasAppKey = false } = options;
  const { orgId, today } = scope;
  const planned = ledger.all();
  const looks = new SecondLooks(ledger);
  const about = { orgId, warehouse, clock, observe, counts, stop, ledger, rule, hasAppKey };
  const gauge = await openRangeGauge(options, orgId, ledger, today);
  const { contract } = scope;
  const own = {
    today,
    contract,
    looksMin: rule.looks ?? LOOKS,
    rangeDays: gauge.daysMax,
    identities: rule.identities,
  };
  const watch = await Watch.begin({ ...options, ...about, request, ...own });
  const outcomes = new Outcomes({ ...about, looks: plan.looks });
  if (scope.first !== undefined) outcomes.recordAnswer(scope.first.unit.stream);
  const isWatched = (unit: DayUnit) => watch.settled(unit) !== undefined;
  const isLook = (unit: DayUnit) => plan.looks.has(unitName(unit));
  const order = { newestFirst, isCompared: (unit: DayUnit) => isWatched(unit) || isLook(unit) };
  const schedule = new Schedule(plan.units, order);
  schedule.add(watch.recent);
  const claims = new UnitClaims({ orgId, lock, clock, schedule, outcomes, ledger, isWatched, planned });
  const archived = new ArchivedCommits(options.archive, claims.guarded(warehouse));
  const queue = new CommitQueue(async (commits) => {
    await options.newAddresses.list();
    return archived.store(commits);
  });
  for (const stream of [...watch.comparedStreams, ...mostlyLooks(plan)]) gauge.expectComparisons(stream);
  const known = new KnownDays(options.force ? [] : planned);
  const isPlanned = (unit: DayUnit) => toPull.has(unitName(unit));
  const sorter = new DaySorter({ ...options, orgId, rule, ledger, watch, looks, isPlanned, isLook });
  return { schedule, gauge, claims, queue, outcomes, known, sorter, looks, watch, archived };
}

/** Pulls all scheduled units, including those that answers, lost claims and other workers' freed claims add meanwhile. */
async function pullUntilDone({ options, stop, parts, work }: PlannedRun): Promise<void> {
  const { schedule, claims, queue } = parts;
  do {
    await keepInFlight(work, options.concurrency);
    await queue.whenIdle();
  } while (
    !stop.signal.aborted &&
    (!schedule.isEmpty || (await work.lookAgain()) || (await claims.awaitOthers(stop.signal)))
  );
}

/** So many days that are reopened are requested alone, the newest first; the others in ranges. */
const REOPENED_ALONE_MAX = 10;

async function compareOlderDays(run: PlannedRun): Promise<void> {
  const { source, warehouse } = run.options;
  const { schedule, watch, outcomes, gauge } = run.parts;
  schedule.add(watch.older);
  const { orgId, today } = run.scope;
  const about = { source, warehouse, orgId, today, watch, outcomes, signal: run.stop.signal };
  await lookAtModelSums(about, gauge.daysMax);
  await lookAtPages(about, gauge.daysMax);
  await walkUsers(about, gauge.daysMax);
  await pullUntilDone(run);
  schedule.add(watch.others(run.options.clock.now()));
  await pullUntilDone(run);
}

/** Pulls the settled days again whose difference is confirmed. */
async function pullReopenedDays(run: PlannedRun): Promise<void> {
  const { options, counts, scope, parts, toPull } = run;
  const reopened = await parts.watch.conclude(options.clock.now(), parts.outcomes.unasked);
  const units = reopened.flatMap(({ day, streams }) =>
    streams.flatMap((stream) => (options.streams.includes(stream) ? [{ stream, day }] : [])),
  );
  counts.reopened = reopened.length;
  counts.planned += units.length;
  if (reopened.length > 0) options.observe({ type: 'days-reopened', days: reopened.map(({ day }) => day) });
  for (const unit of units) toPull.add(unitName(unit));
  parts.schedule.add(units);
  // A lie that only ranges tell is refuted by the day alone. Of many days that would cost too much.
  const alone = new Set(reopened.slice(0, REOPENED_ALONE_MAX).map(({ day }) => day));
  for (const unit of units) if (alone.has(unit.day)) parts.schedule.keepAlone(unit);
  await pullUntilDone(run);
  await rememberRange(options, parts.gauge, scope.orgId, scope.today);
}

/** Settles the empty days of a run that found the first activity of the organization. */
async function settleFirstDays({ options, scope, rule, counts, ledger }: PlannedRun): Promise<void> {
  if (rule.activeSince !== null) return;
  const beginning = { orgId: scope.orgId, rule, always: true };
  const { settled } = await settleAfterFirstActivity(options.warehouse, beginning);
  ledger.put(settled);
  for (const unit of settled) counts.setState(unitName(unit), unit.state);
}

/** Warns of days that contradict themselves, and counts what decides on the exit code. */
async function finishCounts(run: PlannedRun): Promise<void> {
  const { counts, scope, parts, ledger } = run;
  const { warehouse, observe } = run.options;
  // Commits and doubts of a day end in any order; what counts is what is stored.
  ledger.put(await readUnits(warehouse, scope.orgId));
  for (const unit of ledger.all()) counts.setState(unitName(unit), unit.state);
  warnOfDisagreement(ledger.days(), { ...run.rule, today: scope.today, observe });
  await countAttention(counts, { ...run, ...scope, warehouse, observe, mass: parts.watch.mass });
}
