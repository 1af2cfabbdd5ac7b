import { type PreparedResponse, prepareJson } from '../http/prepared-response.ts';
import { titleOf } from '../http/refusal.ts';

/** Why a session was not created. */
export interface SessionProblem {
  readonly status: number;
  readonly detail: string;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Writes the error body of the session endpoint (specification, section 2.6). Unlike other error bodies it has no requestId. */
export function writeSessionProblem({
  status,
  detail,
  title = titleOf(status),
  metadata,
}: SessionProblem): object {
  return { detail, status, title, ...(metadata === undefined ? {} : { metadata }) };
}

/** Prepares the response to a refused request to create a session. */
export function prepareSessionRefusal(problem: SessionProblem): PreparedResponse {
  return prepareJson(problem.status, JSON.stringify(writeSessionProblem(problem)), problem.headers);
}
