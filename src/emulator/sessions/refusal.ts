import { type PreparedResponse, prepareJson } from '../http/prepared-response.ts';
import { type Refusal, titleOf } from '../http/refusal.ts';

/** Writes the error body of the session endpoint (specification, section 2.6). Unlike other error bodies it has no requestId. */
export function writeSessionProblem(
  status: number,
  detail: string,
  { title = titleOf(status), metadata }: { title?: string; metadata?: object | undefined },
): object {
  return { detail, status, title, ...(metadata === undefined ? {} : { metadata }) };
}

/** Prepares the response to a refused request to create a session. */
export function prepareSessionRefusal(refusal: Refusal): PreparedResponse {
  const { status, message, headers } = refusal;
  return prepareJson(status, JSON.stringify(writeSessionProblem(status, message, refusal)), headers);
}
