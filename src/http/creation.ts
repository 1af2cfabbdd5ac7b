import { messageOf, StoppedError } from '../core/errors.ts';
import { EXIT } from '../core/exit-code.ts';
import { type ApiRequest, type Creation, deadlineOf, nameOf, queryOf, splitOrigin } from './api-request.ts';
import { openConnection, type ProxyOptions, proxyFor, type RequestDispatcher } from './connections.ts';
import { ApiError, UnknownOutcomeError } from './errors.ts';
import { exchange } from './exchange.ts';
import { explain } from './explain.ts';
import type { Answer, AnswerReader, HeadReader, ResponseHead } from './response.ts';

/** Options of {@link creator}. */
export interface CreatorOptions {
  /** Milliseconds from the start to the last byte. */
  readonly timeoutMs: number;
  readonly proxy: ProxyOptions | null;
  readonly dispatcher: RequestDispatcher | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly answerOf: AnswerReader;
  readonly headOf: HeadReader;
}

/** Options of one attempt. */
export interface AttemptOptions {
  readonly signal: AbortSignal;
  /** Called when a request begins, also one that follows a redirect. @default does nothing */
  readonly onStart?: ((url: string) => void) | undefined;
  /** Called when status and headers of a response arrive, also those of a redirect. @default does nothing */
  readonly onHead?: ((head: ResponseHead) => void) | undefined;
  /** Time limit of this attempt in milliseconds. @default that of the requester */
  readonly timeoutMs?: number | undefined;
  /** Further headers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Sends a creation once. */
export type Creator = (request: ApiRequest, creation: Creation, options: AttemptOptions) => Promise<Answer>;

interface Progress {
  /** True from just before the first byte of the request is handed to the connection. */
  isSent: boolean;
  /** Status and headers of the response, once they are there. */
  head?: ResponseHead;
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
export function creator({ proxy, dispatcher, headers, answerOf, ...options }: CreatorOptions): Creator {
  return async (
    request,
    creation,
    { signal, onStart, onHead, timeoutMs = options.timeoutMs, headers: further = {} },
  ) => {
    const query = queryOf(request);
    const name = nameOf(request, query);
    const { origin, prefix } = splitOrigin(request.origin);
    const deadline = deadlineOf(timeoutMs, signal);
    const progress: Progress = { isSent: false };
    // A new connection: the server may be closing a kept one, and then nothing shows whether the request arrived.
    const connection = await openConnection(origin, { timeoutMs, proxy, dispatcher });
    const path = `${prefix}${request.path}${query}`;
    try {
      const response = await exchange(connection, {
        method: 'POST',
        path,
        headers: { ...further, ...headers, 'content-type': 'application/json' },
        body: creation.json,
        cancellation: deadline,
        onStart: () => {
          progress.isSent = true;
          onStart?.(origin + path);
        },
        onHead: (status, received) => {
          progress.head = options.headOf(status, received);
          onHead?.(progress.head);
        },
      });
      return answerOf(response, name, 'creation');
    } catch (error) {
      const used = proxyFor(origin, proxy);
      const why = signal.aborted
        ? signal.reason
        : explain(error, {
            ...{ name, timeoutMs, expired: deadline.expired(), proxy: used },
            requestId: progress.head?.requestId,
          });
      throw isSettled(why, progress) ? why : unknownOutcome(why, { name, creation, progress });
    } finally {
      deadline.clear();
      await connection.destroy();
    }
  };
}

/** True when it is certain that nothing was created. */
function isSettled(why: unknown, { isSent, head }: Progress): boolean {
  return (!isSent && head === undefined) || (why instanceof ApiError && isRefusal(why.status));
}

function unknownOutcome(
  why: unknown,
  { name, creation: { creates }, progress }: { name: string; creation: Creation; progress: Progress },
): UnknownOutcomeError {
  const { status, requestId } = progress.head ?? {};
  const isCreated = status === CREATED;
  const what = isCreated ? `${creates} was created` : `${creates} may have been created`;
  const api = why instanceof ApiError ? why : undefined;
  return new UnknownOutcomeError(`${messageOf(why)}; ${what}: check before trying again`, {
    cause: why,
    target: name,
    outcome: isCreated ? 'created' : 'unknown',
    status,
    requestId: api?.requestId ?? requestId,
    ...(api !== undefined && { problem: api.problem }),
    exitCode: why instanceof StoppedError ? why.exitCode : EXIT.upstream,
    hint: `look into the application for it; trying again may create ${creates} a second time`,
  });
}
