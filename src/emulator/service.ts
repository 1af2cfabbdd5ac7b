import { ANALYTICS_BASE_PATH, READINESS_MOVED_PATH, READINESS_PATH } from '../api/paths.ts';
import { FIRST_DAY, shiftDay, startOfDayMs, type UtcDay } from '../core/day.ts';
import type { DailyStream } from '../core/stream.ts';
import { type Caller, type Keys, keysFor, requireKey, requireManager } from './auth.ts';
import { type Dataset, openDataset } from './dataset/dataset.ts';
import { hash } from './dataset/hash.ts';
import { ulid } from './dataset/ids.ts';
import { buildPopulation, DAY_MS } from './dataset/population.ts';
import { listReports, openReports, type ReportList, type Reports } from './dataset/readiness.ts';
import type { EndpointContext } from './endpoints/context.ts';
import { answerDaily } from './endpoints/daily.ts';
import { answerReadiness, readinessPageNumber } from './endpoints/readiness.ts';
import { answerUsers, usersPageNumber } from './endpoints/users.ts';
import { openLru } from './lru.ts';
import type { ResolvedOptions } from './options.ts';
import { type DayRange, readRange } from './params.ts';
import { Refusal } from './problem.ts';
import { DEFAULT_QUIRKS, type Quirks } from './quirks.ts';
import { openRateLimiter, retryAfterHeader } from './rate-limit.ts';
import { jsonReply, problemReply, type Reply } from './reply.ts';
import { openRevisions, type Revisions } from './revisions.ts';
import type { Target } from './target.ts';

/** Weight of all remembered answers at most. */
const ANSWERS_BYTES_MAX = 64 * 1024 * 1024;
const ANSWER_OVERHEAD_BYTES = 512;

/** A request as the service sees it. */
export interface Call {
  readonly method: string;
  readonly target: Target;
  readonly caller: Caller;
  /** Requests in work, this one included. */
  readonly inFlight: number;
}

/** The emulated service without HTTP around it. */
export interface Service {
  readonly orgId: string;
  readonly keys: Keys;
  readonly dataset: Dataset;
  readonly reports: Reports;
  readonly revisions: Revisions;
  /** The answer to any request; a refusal is an answer too. */
  answer(call: Call): Reply;
  /** Which page of its walk a request asks for, from 1; null where there are no pages or the request is invalid. */
  pageOf(target: Target): number | null;
  /** The instant that the service takes for now. */
  now(): Date;
  today(): UtcDay;
  setToday(day: UtcDay): void;
  quirks(): Quirks;
  setQuirks(changes: Partial<Quirks>): void;
  reportList(): ReportList;
  /** Must be called after a change to the revisions. */
  forgetAnswers(): void;
}

/** Opens the service. Its answers depend on options, quirks and revisions, and on the request alone. */
export function openService(options: ResolvedOptions): Service {
  const { seed, clock } = options;
  let today = options.today;
  let quirks: Quirks = { ...DEFAULT_QUIRKS, ...options.quirks };
  let lateRequests = 0;
  let list: ReportList | undefined;
  const answers = openLru<Reply>(ANSWERS_BYTES_MAX);
  const limiter = openRateLimiter();
  const orgId = options.orgId ?? ulid('org_', startOfDayMs(FIRST_DAY) - 300 * DAY_MS, hash(seed, 0x0a6), 0);
  const population = buildPopulation({ seed, size: options.users, steady: options.steady });
  const revisions = openRevisions(() => ({ today, quirks }));
  const dataset = openDataset(population, revisions.variantOf);
  const reports = openReports(seed, options.reports);

  function reportList(): ReportList {
    list ??= listReports(reports, revisions.reportChanges(), quirks.readinessOrder);
    return list;
  }

  function context(): EndpointContext {
    return {
      orgId,
      today,
      quirks,
      dataset,
      reports,
      reportChanges: revisions.reportChanges(),
      get reportList() {
        return reportList();
      },
    };
  }

  function now(): Date {
    return new Date(startOfDayMs(today) + (((clock.now().getTime() % DAY_MS) + DAY_MS) % DAY_MS));
  }

  /** The last day of the range that has its data: yesterday's may be late. */
  function lastDayWithData(range: DayRange): number {
    const late = typeof quirks.lateBatch === 'number' ? lateRequests < quirks.lateBatch : quirks.lateBatch;
    if (range.endDate !== shiftDay(today, -1) || !late) return range.last;
    lateRequests += 1;
    return range.last - 1;
  }

  function admit(call: Call): void {
    const wait = limiter.waitSeconds(quirks.rateLimit, clock.monotonicMs(), call.inFlight);
    if (wait === null || quirks.rateLimit === null) return;
    throw new Refusal(429, 'Rate limit exceeded', retryAfterHeader(quirks.rateLimit, wait, now()));
  }

  function answerAnalytics(stream: DailyStream, target: Target): string {
    if (quirks.analyticsDisabled) throw new Refusal(403, 'Analytics is not enabled for the organization');
    const range = readRange(target.query, today, quirks);
    const last = lastDayWithData(range);
    if (stream === 'users') return answerUsers(context(), target.query, range, last);
    return answerDaily(context(), stream, target.query, range, last);
  }

  function answerOnce(call: Call): Reply {
    const { target, caller } = call;
    const { stream, path } = target;
    if (stream === null) throw new Refusal(404, `There is nothing at ${path.slice(0, 200)}`);
    if (call.method !== 'GET') throw new Refusal(405, `${call.method} is not allowed here`, { allow: 'GET' });
    if (path.startsWith(ANALYTICS_BASE_PATH) || quirks.readinessRoles === 'manager') requireManager(caller);
    else requireKey(caller);
    admit(call);
    const known = answers.get(target.url);
    if (known !== undefined) return known;
    if (path === READINESS_PATH && quirks.readinessRedirect === '308') return redirectReadiness(target);
    const reply = jsonReply(
      200,
      stream === 'readiness' ? answerReadiness(context(), target.query) : answerAnalytics(stream, target),
    );
    // While the batch is late, equal requests get different answers.
    if (quirks.lateBatch === false) answers.set(target.url, reply, reply.body.length + ANSWER_OVERHEAD_BYTES);
    return reply;
  }

  return {
    orgId,
    keys: keysFor(seed, options.apiKey),
    dataset,
    reports,
    revisions,
    answer(call) {
      try {
        return answerOnce(call);
      } catch (error) {
        if (error instanceof Refusal) return problemReply(error, call.target.requestId);
        throw error;
      }
    },
    pageOf(target) {
      try {
        if (target.stream === 'readiness') return readinessPageNumber(context(), target.query);
        if (target.stream !== 'users') return null;
        const range = readRange(target.query, today, quirks);
        return usersPageNumber(context(), target.query, range, range.last);
      } catch (error) {
        if (error instanceof Refusal) return null;
        throw error;
      }
    },
    now,
    today: () => today,
    setToday(day) {
      today = day;
      revisions.refresh();
      answers.clear();
    },
    quirks: () => quirks,
    setQuirks(changes) {
      quirks = { ...quirks, ...changes };
      lateRequests = 0;
      list = undefined;
      revisions.refresh();
      answers.clear();
    },
    reportList,
    forgetAnswers() {
      list = undefined;
      answers.clear();
    },
  };
}

function redirectReadiness(target: Target): Reply {
  const location = READINESS_MOVED_PATH + target.url.slice(READINESS_PATH.length);
  return jsonReply(308, JSON.stringify({ redirect: location }), { location });
}
