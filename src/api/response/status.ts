import { isObject, parseJson } from '../../core/json.ts';
import type { Advice } from '../../core/reasons.ts';
import {
  ApiError,
  type ApiErrorOptions,
  BadRequestError,
  CredentialError,
  OverloadError,
  ServerError,
} from '../errors.ts';
import { READINESS_PATH, SESSIONS_PATH } from '../paths.ts';
import { type ProblemDetails, problemDetailsCheck } from '../shapes/problem-details.ts';
import { type Headers, headerOf } from './headers.ts';
import { parseHttpDate, parseRetryAfter } from './retry-after.ts';

/** Maximum number of characters of the server's text in an error message. */
const DETAIL_CHARS_MAX = 300;

/** A response whose status is an error. */
export interface ErrorResponse {
  readonly target: string;
  readonly status: number;
  readonly headers: Headers;
  /** The part of the body that was read. */
  readonly body: string;
  /** This machine's clock, used if the server sent no Date. */
  readonly now: Date;
}

/** The error for a status, with what the body says (specification, section 7). */
export function errorOfStatus(response: ErrorResponse): ApiError {
  const problem = parseProblem(response.body);
  const requestId = problem.requestId ?? headerOf(response.headers, 'x-request-id');
  const serverDate = parseHttpDate(headerOf(response.headers, 'date') ?? '');
  const { target, status } = response;
  const options: ApiErrorOptions = { target, status, problem, requestId, serverDate };
  const message = describe(response, problem, requestId);
  if (status === 400) return new BadRequestError(message, options);
  if (status === 401 || status === 403)
    return new CredentialError(message, { ...options, ...credentialAdvice(status, target) });
  if (status === 429 || status === 503) {
    const retryAfterMs = parseRetryAfter(
      headerOf(response.headers, 'retry-after'),
      serverDate ?? response.now,
    );
    return new OverloadError(message, { ...options, retryAfterMs });
  }
  if (status >= 500 || status === 408 || status === 425) return new ServerError(message, options);
  return new ApiError(message, {
    ...options,
    ...(status === 404 ? notFoundAdvice(target) : {}),
  });
}

function credentialAdvice(status: 401 | 403, target: string): Advice {
  const isReadiness = target.includes(READINESS_PATH);
  if (status === 401) {
    return {
      hint: 'the key is missing, mistyped, expired or revoked',
      reason: isReadiness ? 'app-key-rejected' : 'key-rejected',
    };
  }
  if (isReadiness) {
    return {
      hint: 'the user of this credential may not read the readiness reports',
      reason: 'app-key-lacks-role',
    };
  }
  return { hint: target.includes(SESSIONS_PATH) ? HINT_403_SESSIONS : HINT_403 };
}

const HINT_403 =
  'the key must belong to a user with the Manager or Owner role, and analytics must be enabled for the organization';
const HINT_403_SESSIONS =
  'only selected organizations may create sessions, and yours may not be one of them; ask its owner';

function notFoundAdvice(target: string): Advice {
  return target.includes(READINESS_PATH)
    ? {
        hint: 'check the URL of the application host: this host does not serve the readiness reports',
        reason: 'readiness-not-found',
      }
    : {
        hint: 'check the URLs of the hosts: this host does not serve the API there',
        reason: 'api-not-found',
      };
}

function describe(response: ErrorResponse, problem: ProblemDetails, requestId: string | undefined): string {
  const said = problem.detail ?? problem.title ?? foreignText(response);
  const detail = said === undefined ? '' : `: ${said.slice(0, DETAIL_CHARS_MAX)}`;
  const metadata = problem.metadata === undefined ? '' : ` ${JSON.stringify(problem.metadata)}`;
  const id = requestId === undefined ? '' : ` (requestId ${requestId})`;
  return `${response.target} answered ${response.status}${detail}${metadata.slice(0, DETAIL_CHARS_MAX)}${id}`;
}

/**
 * The body of a readiness error on one line: JSON or plain text, because its shape is not documented. HTML pages of
 * proxies are left out: their first lines do not say what went wrong.
 */
function foreignText({ target, headers, body }: ErrorResponse): string | undefined {
  if (!target.includes(READINESS_PATH)) return undefined;
  const type = headerOf(headers, 'content-type') ?? '';
  if (!/^(text\/plain|application\/([\w.+-]+\+)?json)\b/i.test(type)) return undefined;
  const text = body.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return text === '' || text === '{}' ? undefined : text;
}

/** The valid fields of an error body. Each counts by itself, because proxies answer with errors too. */
function parseProblem(body: string): ProblemDetails {
  // Proxies answer in HTML or plain text; then the status alone decides.
  const value = parseJson(body);
  if (!isObject(value)) return {};
  const fields = Object.entries(value).filter(([name, field]) =>
    problemDetailsCheck.Check({ [name]: field }),
  );
  return Object.fromEntries(fields);
}
