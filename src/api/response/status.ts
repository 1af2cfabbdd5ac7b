import { isObject } from '../../core/json.ts';
import {
  ApiError,
  type ApiErrorOptions,
  BadRequestError,
  CredentialError,
  OverloadError,
  ServerError,
} from '../errors.ts';
import { READINESS_PATH, SESSIONS_PATH } from '../paths.ts';
import { type Problem, problemCheck } from '../shapes/problem-details.ts';
import { type Headers, headerOf } from './headers.ts';
import { parseHttpDate, parseRetryAfter } from './retry-after.ts';

/** Characters of a foreign text that an error message repeats. */
const DETAIL_CHARS_MAX = 300;

/** An answer whose status is an error. */
export interface Refusal {
  readonly target: string;
  readonly status: number;
  readonly headers: Headers;
  /** The body, as far as it was read; any text. */
  readonly body: string;
  /** This machine's clock, used where the server sent no Date. */
  readonly now: Date;
}

/** The error class that belongs to a status, with what the body says (specification, section 7). */
export function errorOfStatus(refusal: Refusal): ApiError {
  const problem = parseProblem(refusal.body);
  const requestId = problem.requestId ?? headerOf(refusal.headers, 'x-request-id');
  const serverDate = parseHttpDate(headerOf(refusal.headers, 'date') ?? '');
  const { target, status } = refusal;
  const options: ApiErrorOptions = { target, status, problem, requestId, serverDate };
  const message = describe(refusal, problem, requestId);
  if (status === 400) return new BadRequestError(message, options);
  if (status === 401 || status === 403)
    return new CredentialError(message, { ...options, hint: credentialHint(status, target) });
  if (status === 429 || status === 503) {
    const retryAfterMs = parseRetryAfter(headerOf(refusal.headers, 'retry-after'), serverDate ?? refusal.now);
    return new OverloadError(message, { ...options, retryAfterMs });
  }
  if (status >= 500 || status === 408 || status === 425) return new ServerError(message, options);
  return new ApiError(message, {
    ...options,
    ...(status === 404 ? { hint: target.includes(READINESS_PATH) ? HINT_404_READINESS : HINT_404 } : {}),
  });
}

function credentialHint(status: 401 | 403, target: string): string {
  if (target.includes(READINESS_PATH)) return status === 401 ? HINT_401_READINESS : HINT_403_READINESS;
  if (status === 401) return HINT_401;
  return target.includes(SESSIONS_PATH) ? HINT_403_SESSIONS : HINT_403;
}

const HINT_401 = 'check DAYWALK_API_KEY: the key is missing, mistyped, expired or revoked';
const HINT_403 =
  'the key must belong to a user with the Manager or Owner role, and analytics must be enabled for the organization';
const HINT_403_SESSIONS =
  'creating sessions is open to selected organizations only, and may not be enabled for yours; ask its owner';
const HINT_401_READINESS =
  'check DAYWALK_API_KEY, or set DAYWALK_APP_API_KEY to the credential of the application host where it is another one';
const HINT_403_READINESS =
  'the user of this credential may not read the readiness reports; DAYWALK_APP_API_KEY may name another one';
const HINT_404 = 'check DAYWALK_BASE_URL and DAYWALK_APP_URL: this host does not serve the API there';

const HINT_404_READINESS =
  'check DAYWALK_APP_URL, the application host (by default the base URL): this host does not serve the readiness reports';

function describe(refusal: Refusal, problem: Problem, requestId: string | undefined): string {
  const said = problem.detail ?? problem.title ?? foreignText(refusal);
  const detail = said === undefined ? '' : `: ${said.slice(0, DETAIL_CHARS_MAX)}`;
  const metadata = problem.metadata === undefined ? '' : ` ${JSON.stringify(problem.metadata)}`;
  const id = requestId === undefined ? '' : ` (requestId ${requestId})`;
  return `${refusal.target} answered ${refusal.status}${detail}${metadata.slice(0, DETAIL_CHARS_MAX)}${id}`;
}

/**
 * What the body of a readiness error says, on one line: JSON as it came, or plain text. Its shape is not documented.
 * The pages of proxies are left out, because nothing in their first lines says what went wrong.
 */
function foreignText({ target, headers, body }: Refusal): string | undefined {
  if (!target.includes(READINESS_PATH)) return undefined;
  const type = headerOf(headers, 'content-type') ?? '';
  if (!/^(text\/plain|application\/([\w.+-]+\+)?json)\b/i.test(type)) return undefined;
  const text = body.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return text === '' || text === '{}' ? undefined : text;
}

/** What can be read of a body. Each field counts by itself, because not everything that refuses is the service. */
function parseProblem(body: string): Problem {
  const value = parseJson(body);
  if (!isObject(value)) return {};
  const fields = Object.entries(value).filter(([name, field]) => problemCheck.Check({ [name]: field }));
  return Object.fromEntries(fields);
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Proxies answer in HTML or plain text; the status alone decides then.
    return undefined;
  }
}
