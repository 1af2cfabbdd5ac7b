import { Client, DecoratorHandler, type Dispatcher } from 'undici';
import { messageOf, StoppedError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { AnswerReader } from './answer.ts';
import { deadlineOf } from './deadline.ts';
import { ApiError, UnknownOutcomeError } from './errors.ts';
import { explain } from './explain.ts';
import type { Answer } from './request.ts';
import { type Creation, nameOf, queryOf, type Target } from './target.ts';

/** What a creator works with. */
export interface CreatorOptions {
  /** Milliseconds from the start to the last byte. */
  readonly timeoutMs: number;
  headers(): Record<string, string>;
  readonly answerOf: AnswerReader;
}

/** Sends a creation once. */
export type Creator = (target: Target, creation: Creation, call: { signal: AbortSignal }) => Promise<Answer>;

/** How far a creation came. */
interface Progress {
  /** True from just before the first byte of the request is handed to the connection. */
  isSent: boolean;
  /** Status of the answer, once it is there. */
  status?: number;
}

const CREATED = 201;

/**
 * Statuses of a request that was not carried out. 408 and 425 are not among them: a proxy may say them of a request that
 * the service behind it has got.
 */
const isRefusal = (status: number) => status >= 400 && status < 500 && status !== 408 && status !== 425;

/**
 * A sender of creations. What it throws says whether the request may be repeated: an error with the effect `retry`
 * means that the service provably did not take it, because nothing was sent or it answered 429.
 * Redirects are not followed.
 */
export function creator({ timeoutMs, headers, answerOf }: CreatorOptions): Creator {
  return async (target, creation, { signal }) => {
    const name = nameOf(target);
    const url = new URL(target.origin);
    const prefix = url.pathname === '/' ? '' : url.pathname;
    const deadline = deadlineOf(timeoutMs, signal);
    const progress: Progress = { isSent: false };
    // A connection of its own: one that was kept open may be closing at the other end, and a request that is lost
    // there cannot be told from one that arrived.
    const client = new Client(url.origin, {
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: { timeout: timeoutMs },
    });
    try {
      const response = await watched(client, progress).request({
        method: 'POST',
        path: `${prefix}${target.path}${queryOf(target)}`,
        headers: { ...headers(), 'content-type': 'application/json' },
        body: creation.json,
        signal: deadline.signal,
      });
      progress.status = response.statusCode;
      return await answerOf(response, name);
    } catch (error) {
      const why = signal.aborted
        ? signal.reason
        : explain(error, { name, timeoutMs, expired: deadline.expired() });
      throw isSettled(why, progress) ? why : unknownOutcome(why, { name, creation, progress });
    } finally {
      deadline.clear();
      await client.destroy();
    }
  };
}

/** The client, noting in `progress` when a request begins to be written. */
function watched(client: Client, progress: Progress): Dispatcher {
  class Watch extends DecoratorHandler implements Dispatcher.DispatchHandler {
    readonly #inner: Dispatcher.DispatchHandler;
    constructor(inner: Dispatcher.DispatchHandler) {
      super(inner);
      this.#inner = inner;
    }
    onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
      progress.isSent = true;
      this.#inner.onRequestStart?.(controller, context);
    }
  }
  return client.compose((dispatch) => (options, handler) => dispatch(options, new Watch(handler)));
}

/** True when it is certain that nothing was created. */
function isSettled(why: unknown, { isSent }: Progress): boolean {
  return !isSent || (why instanceof ApiError && isRefusal(why.status));
}

function unknownOutcome(
  why: unknown,
  { name, creation: { creates }, progress }: { name: string; creation: Creation; progress: Progress },
): UnknownOutcomeError {
  const isCreated = progress.status === CREATED;
  const what = isCreated ? `${creates} was created` : `${creates} may have been created`;
  const api = why instanceof ApiError ? why : undefined;
  const { title, detail, metadata } = api ?? {};
  return new UnknownOutcomeError(`${messageOf(why)}; ${what}: check before trying again`, {
    cause: why,
    target: name,
    outcome: isCreated ? 'created' : 'unknown',
    status: progress.status,
    problem: {
      ...(title === undefined ? {} : { title }),
      ...(detail === undefined ? {} : { detail }),
      ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
    },
    requestId: api?.requestId,
    exitCode: why instanceof StoppedError ? why.exitCode : EXIT.upstream,
    hint: `look into the application for it; trying again may create ${creates} once more`,
  });
}
