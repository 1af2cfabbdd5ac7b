import { jsonResponse, type PreparedResponse } from '../http/prepared-response.ts';
import { titleOf } from '../http/refusal.ts';

/** A refused creation. */
export interface SessionProblem {
  readonly status: number;
  readonly detail: string;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The error body of the session endpoint (specification, section 2.6): unlike elsewhere it has no requestId. */
export function sessionProblem({
  status,
  detail,
  title = titleOf(status),
  metadata,
}: SessionProblem): object {
  return { detail, status, title, ...(metadata === undefined ? {} : { metadata }) };
}

/** The answer to a refused creation. */
export function sessionRefusal(problem: SessionProblem): PreparedResponse {
  return jsonResponse(problem.status, JSON.stringify(sessionProblem(problem)), problem.headers);
}
