import type { Caller } from './auth.ts';
import type { RequestTarget } from './request-target.ts';
import type { Upload } from './upload.ts';

/** A request as the service sees it. */
export interface ApiCall {
  readonly method: string;
  readonly target: RequestTarget;
  readonly caller: Caller;
  /** Requests in progress, including this one. */
  readonly inFlight: number;
  /** The body of a request that creates something; null for other requests. */
  readonly upload: Upload | null;
}
