import { ANALYTICS_BASE_PATH, READINESS_PATH, SESSIONS_PATH } from '../contract/index.ts';
import type { Clock } from '../core/clock.ts';
import type { Stream } from '../core/stream.ts';
import { openLru } from './dataset/lru.ts';
import { answerDaily, answerUsers, usersPageNumber } from './endpoints/analytics.ts';
import { chooseStatus } from './endpoints/lies.ts';
import { readRange } from './endpoints/params.ts';
import { answerReadiness, readinessPageNumber } from './endpoints/readiness.ts';
import { ALLOW_POST, answerSessions } from './endpoints/sessions.ts';
import { OPENAPI_DOCUMENT, OPENAPI_PATH } from './openapi/document.ts';
import type { Quirks, RateLimitQuirk } from './quirks.ts';
import {
  type ApiCall,
  READINESS_MOVED_PATH,
  type RequestTarget,
  requireKey,
  requireManager,
} from './request.ts';
import { type PreparedResponse, prepareForeign, prepareJson, prepareProblem, Refusal } from './response.ts';
import type { World } from './world.ts';

const RESPONSE_OVERHEAD_BYTES = 512;
const OPENAPI_RESPONSE = prepareJson(200, JSON.stringify(OPENAPI_DOCUMENT));

const NO_BODY = Buffer.alloc(0);
const ALLOW_GET = 'GET, OPTIONS';

/** The methods of a path, as the header Allow lists them; null where there is nothing. */
function allowedAt({ path, stream }: RequestTarget): string | null {
  if (path === SESSIONS_PATH) return ALLOW_POST;
  return stream !== null || path === OPENAPI_PATH ? ALLOW_GET : null;
}

/** The emulated service, independent of HTTP. */
export interface Service {
  /** Responds to any request. A refusal is a response too. */
  answer(call: ApiCall): PreparedResponse;
  /** The number of the requested page in its walk, from 1; null without pages or for an invalid request. */
  pageOf(target: RequestTarget): number | null;
}

/** Opens the service. Its responses depend on the world and the request alone; it caches the latest ones. */
export function openService(world: World, options: { clock: Clock; cacheBytesMax: number }): Service {
  const responses = openLru<PreparedResponse>(
    options.cacheBytesMax,
    ({ body }) => body.length + RESPONSE_OVERHEAD_BYTES,
  );
  let version = world.version();
  const limiter = openRateLimiter();

  function admit(inFlight: number): void {
    const { rateLimit } = world.quirks();
    const wait = limiter.waitSeconds(rateLimit, options.clock.monotonicMs(), inFlight);
    if (wait === null || rateLimit === null) return;
    throw new Refusal(429, 'Rate limit exceeded', writeRetryAfter(rateLimit, wait, world.now()));
  }

  function remember(target: RequestTarget, make: () => PreparedResponse): PreparedResponse {
    // While the batch is late, equal requests get different responses.
    if (world.quirks().lateBatch !== false) return make();
    if (version !== world.version()) responses.clear();
    version = world.version();
    return responses.remember(target.url, make);
  }

  /** Checks path, method, key, role and rate before the parameters. */
  function route(call: ApiCall): PreparedResponse {
    const { method, target, caller, inFlight } = call;
    const { path, stream } = target;
    const allow = allowedAt(target);
    if (method === 'OPTIONS' && allow !== null) return { status: 204, headers: { allow }, body: NO_BODY };
    if (path === OPENAPI_PATH && method === 'GET') return OPENAPI_RESPONSE;
    if (path === SESSIONS_PATH) return answerSessions(world, call, () => admit(call.inFlight));
    if (allow === null) throw new Refusal(404, `There is nothing at ${path.slice(0, 200)}`);
    if (method !== 'GET' || stream === null)
      throw new Refusal(405, `${method} is not allowed here`, { allow });
    const managersOnly = path.startsWith(ANALYTICS_BASE_PATH) || world.quirks().readinessRoles === 'manager';
    if (managersOnly) requireManager(caller);
    else requireKey(caller);
    if (stream === 'readiness' && world.quirks().readinessUnauthorized)
      throw new Refusal(401, 'Invalid API key for readiness reports', { 'www-authenticate': 'Bearer' });
    admit(inFlight);
    if (path === READINESS_PATH && world.quirks().readinessRedirect === '308')
      return prepareReadinessRedirect(target);
    return remember(target, () => answerRead(world, stream, target));
  }

  return {
    answer(call) {
      try {
        return route(call);
      } catch (error) {
        if (error instanceof Refusal) return prepareRefusal(error, call.target, world.quirks());
        throw error;
      }
    },
    pageOf: (target) => pageOf(world, target),
  };
}

function prepareRefusal(
  refusal: Refusal,
  { stream, requestId }: RequestTarget,
  { readinessErrors }: Quirks,
): PreparedResponse {
  if (stream !== 'readiness' || readinessErrors === 'problem') return prepareProblem(refusal, requestId);
  return prepareForeign(refusal, readinessErrors);
}

function answerRead(world: World, stream: Stream, { query }: RequestTarget): PreparedResponse {
  const { lies } = world.quirks();
  if (stream === 'readiness') {
    return prepareJson(chooseStatus(lies, { stream, range: null }), answerReadiness(world, query));
  }
  if (world.quirks().analyticsDisabled)
    throw new Refusal(403, 'Analytics is not enabled for the organization');
  const range = readRange(query, world.today(), world.quirks());
  const json =
    stream === 'users' ? answerUsers(world, query, range) : answerDaily(world, stream, query, range);
  return prepareJson(chooseStatus(lies, { stream, range }), json);
}

function pageOf(world: World, { stream, query }: RequestTarget): number | null {
  try {
    if (stream === 'readiness') return readinessPageNumber(world, query);
    return stream === 'users'
      ? usersPageNumber(world, query, readRange(query, world.today(), world.quirks()))
      : null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function prepareReadinessRedirect(target: RequestTarget): PreparedResponse {
  const location = READINESS_MOVED_PATH + target.url.slice(READINESS_PATH.length);
  return prepareJson(308, JSON.stringify({ redirect: location }), { location });
}

const MINUTE_MS = 60_000;

/** Decides which requests exceed the rate. */
interface RateLimiter {
  /** Returns the whole seconds to wait, or null when the request is accepted. `inFlight` includes the request. */
  waitSeconds(quirk: RateLimitQuirk | null, nowMs: number, inFlight: number): number | null;
}

/** Opens a token bucket. It starts full with the requests of a burst, and refills at the allowed rate. */
export function openRateLimiter(): RateLimiter {
  let tokens = Number.POSITIVE_INFINITY;
  let filledAtMs = 0;
  return {
    waitSeconds(quirk, nowMs, inFlight) {
      if (quirk === null) return null;
      if (quirk.inFlight !== undefined && inFlight > quirk.inFlight) return 1;
      if (quirk.requestsPerMinute === undefined) return null;
      const capacity = quirk.burst ?? quirk.requestsPerMinute;
      tokens = Math.min(capacity, tokens + ((nowMs - filledAtMs) * quirk.requestsPerMinute) / MINUTE_MS);
      filledAtMs = nowMs;
      if (tokens < 1) return Math.ceil(((1 - tokens) * MINUTE_MS) / quirk.requestsPerMinute / 1_000);
      tokens -= 1;
      return null;
    },
  };
}

/** Returns the Retry-After header in the form of the quirk. */
function writeRetryAfter(quirk: RateLimitQuirk, waitSeconds: number, now: Date): Record<string, string> {
  switch (quirk.retryAfter ?? 'seconds') {
    case 'seconds':
      return { 'retry-after': String(waitSeconds) };
    case 'date':
      return { 'retry-after': new Date(now.getTime() + waitSeconds * 1_000).toUTCString() };
    case 'garbage':
      return { 'retry-after': 'in a little while' };
    case 'absent':
      return {};
  }
}
