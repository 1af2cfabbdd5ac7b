import { messageOf, StoppedError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import { type ApiRequest, type Creation, deadlineOf, nameOf, queryOf, splitOrigin } from './api-request.ts';
import { openConnection, type ProxyOptions, proxyFor } from './connections.ts';
import { ApiError, UnknownOutcomeError } from './errors.ts';
import { exchange } from './exchange.ts';
import { explain } from './explain.ts';
import type { Answer, AnswerReader } from './response.ts';

/** Options of {@link creator}. */
export interface CreatorOptions {
  /** Milliseconds from the start to the last byte. */
  readonly timeoutMs: number;
  readonly proxy: ProxyOptions | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly answerOf: AnswerReader;
}

/** Sends a creation once. */
export type Creator = (
  request: ApiRequest,
  creation: Creation,
  options: { readonly signal: AbortSignal; readonly onStatus?: (status: number) => void },
) => Promise<Answer>;

interface Progress {
  /** True from just before the first byte of the request is handed to the connection. */
  isSent: boolean;
  /** Status of the response, once it is there. */
  status?: number;
}

const CREATED = 201;

/**
 * Statuses of a request that was not carried out. 408 and 425 are not among them: a proxy may send them for a request
 * that the service behind it has received.
 */
const isRefusal = (status: number) => status >= 400 && status < 500 && status !== 408 && status !== 425;

/**
 * A sender of creations. An error with the effect `retry` means that the service provably did not carry out the request:
 * nothing was sent, or it answered 429. Redirects are not followed.
 */
export function creator({ timeoutMs, proxy, headers, answerOf }: CreatorOptions): Creator {
  return async (request, creation, { signal, onStatus }) => {
    const query = queryOf(request);
    const name = nameOf(request, query);
    const { origin, prefix } = splitOrigin(request.origin);
    const deadline = deadlineOf(timeoutMs, signal);
    const progress: Progress = { isSent: false };
    // A new connection: the server may be closing a kept one, and then nothing shows whether the request arrived.
    const connection = await openConnection(origin, { timeoutMs, proxy });
    try {
      const response = await exchange(connection, {
        method: 'POST',
        path: `${prefix}${request.path}${query}`,
        headers: { ...headers, 'content-type': 'application/json' },
        body: creation.json,
        cancellation: deadline,
        onStart: () => {
          progress.isSent = true;
        },
        onStatus: (status) => {
          progress.status = status;
          onStatus?.(status);
        },
      });
      return answerOf(response, name, 'creation');
    } catch (error) {
      const used = proxyFor(origin, proxy);
      const why = signal.aborted
        ? signal.reason
        : explain(error, { name, timeoutMs, expired: deadline.expired(), proxy: used });
      throw isSettled(why, progress) ? why : unknownOutcome(why, { name, creation, progress });
    } finally {
      deadline.clear();
      await connection.destroy();
    }
  };
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
  return new UnknownOutcomeError(`${messageOf(why)}; ${what}: check before trying again`, {
    cause: why,
    target: name,
    outcome: isCreated ? 'created' : 'unknown',
    status: progress.status,
    ...(api !== undefined && { problem: api.problem, requestId: api.requestId }),
    exitCode: why instanceof StoppedError ? why.exitCode : EXIT.upstream,
    hint: `look into the application for it; trying again may create ${creates} a second time`,
  });
}
