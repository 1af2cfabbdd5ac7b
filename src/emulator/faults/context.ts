import type { ApiCall } from '../http/api-call.ts';
import type { PreparedResponse } from '../http/prepared-response.ts';
import type { RevisionRequest } from '../world/revision-request.ts';

/** The request, and the functions that an action may call. */
export interface FaultContext {
  readonly call: ApiCall;
  /** Prepares the response without faults to this request, or to the same request with another URL. */
  answer(url?: string): PreparedResponse;
  revise(request: RevisionRequest): void;
  now(): Date;
  /** Call it when an action found nothing to change. */
  missed(): void;
}
