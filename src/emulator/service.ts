import { ANALYTICS_BASE_PATH, READINESS_MOVED_PATH, READINESS_PATH, SESSIONS_PATH } from '../api/paths.ts';
import type { Clock } from '../core/clock.ts';
import type { Stream } from '../core/stream.ts';
import { openRateLimiter, retryAfterHeader } from './control/rate-limit.ts';
import { openLru } from './dataset/lru.ts';
import { answerDaily } from './endpoints/daily.ts';
import { statusTold } from './endpoints/lies/rows.ts';
import { readRange } from './endpoints/params.ts';
import { answerReadiness, readinessPageNumber } from './endpoints/readiness.ts';
import { answerUsers, usersPageNumber } from './endpoints/users.ts';
import { requireKey, requireManager } from './http/auth.ts';
import type { Call } from './http/incoming-request.ts';
import { foreignReply, jsonReply, problemReply, type Reply } from './http/prepared-response.ts';
import { Refusal } from './http/refusal.ts';
import type { Target } from './http/request-target.ts';
import { OPENAPI_DOCUMENT, OPENAPI_PATH } from './openapi/document.ts';
import type { Quirks } from './quirks/quirks.ts';
import { answerSessions } from './sessions/answer.ts';
import type { World } from './world/world.ts';

const ANSWER_OVERHEAD_BYTES = 512;
const OPENAPI_REPLY = jsonReply(200, JSON.stringify(OPENAPI_DOCUMENT));

/** The emulated service without HTTP around it. */
export interface Service {
  /** The answer to any request; a refusal is an answer too. */
  answer(call: Call): Reply;
  /** Which page of its walk a request asks for, from 1; null where there are no pages or the request is invalid. */
  pageOf(target: Target): number | null;
}

/** Opens the service. Its answers depend on the world and on the request alone; the latest are kept. */
export function openService(world: World, options: { clock: Clock; cacheBytesMax: number }): Service {
  const answers = openLru<Reply>(options.cacheBytesMax);
  let answersVersion = world.version();
  const limiter = openRateLimiter();

  function admit(inFlight: number): void {
    const { rateLimit } = world.quirks();
    const wait = limiter.waitSeconds(rateLimit, options.clock.monotonicMs(), inFlight);
    if (wait === null || rateLimit === null) return;
    throw new Refusal(429, 'Rate limit exceeded', retryAfterHeader(rateLimit, wait, world.now()));
  }

  function remembered(target: Target, make: () => Reply): Reply {
    // While the batch is late, equal requests get different answers.
    if (world.quirks().lateBatch !== false) return make();
    if (answersVersion !== world.version()) answers.clear();
    answersVersion = world.version();
    const known = answers.get(target.url);
    if (known !== undefined) return known;
    const reply = make();
    answers.set(target.url, reply, reply.body.length + ANSWER_OVERHEAD_BYTES);
    return reply;
  }

  /** The way of every request: path, method, key, role, rate, and only then the parameters. */
  function route(call: Call): Reply {
    const { method, target, caller, inFlight } = call;
    const { path, stream } = target;
    if (path === OPENAPI_PATH && method === 'GET') return OPENAPI_REPLY;
    if (path === SESSIONS_PATH) return answerSessions(world, call, () => admit(call.inFlight));
    if (stream === null) throw new Refusal(404, `There is nothing at ${path.slice(0, 200)}`);
    if (method !== 'GET') throw new Refusal(405, `${method} is not allowed here`, { allow: 'GET' });
    const managersOnly = path.startsWith(ANALYTICS_BASE_PATH) || world.quirks().readinessRoles === 'manager';
    if (managersOnly) requireManager(caller);
    else requireKey(caller);
    if (stream === 'readiness' && world.quirks().readinessUnauthorized)
      throw new Refusal(401, 'Invalid API key for readiness reports', { 'www-authenticate': 'Bearer' });
    admit(inFlight);
    if (path === READINESS_PATH && world.quirks().readinessRedirect === '308')
      return redirectReadiness(target);
    return remembered(target, () => answerRead(world, stream, target));
  }

  return {
    answer(call) {
      try {
        return route(call);
      } catch (error) {
        if (error instanceof Refusal) return refusalReply(error, call.target, world.quirks());
        throw error;
      }
    },
    pageOf: (target) => pageOf(world, target),
  };
}

function refusalReply(refusal: Refusal, { stream, requestId }: Target, { readinessErrors }: Quirks): Reply {
  if (stream !== 'readiness' || readinessErrors === 'problem') return problemReply(refusal, requestId);
  return foreignReply(refusal, readinessErrors);
}

function answerRead(world: World, stream: Stream, { query }: Target): Reply {
  const { lies } = world.quirks();
  if (stream === 'readiness') {
    return jsonReply(statusTold(lies, { stream, range: null }), answerReadiness(world, query));
  }
  if (world.quirks().analyticsDisabled)
    throw new Refusal(403, 'Analytics is not enabled for the organization');
  const range = readRange(query, world.today(), world.quirks());
  const json =
    stream === 'users' ? answerUsers(world, query, range) : answerDaily(world, stream, query, range);
  return jsonReply(statusTold(lies, { stream, range }), json);
}

function pageOf(world: World, { stream, query }: Target): number | null {
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

function redirectReadiness(target: Target): Reply {
  const location = READINESS_MOVED_PATH + target.url.slice(READINESS_PATH.length);
  return jsonReply(308, JSON.stringify({ redirect: location }), { location });
}
