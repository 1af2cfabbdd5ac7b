import type { Caller } from './auth.ts';
import type { Target } from './request-target.ts';
import type { Upload } from './upload.ts';

/** A request as the service sees it. */
export interface Call {
  readonly method: string;
  readonly target: Target;
  readonly caller: Caller;
  /** Requests in work, this one included. */
  readonly inFlight: number;
  /** The body, with requests that create something; null with others. */
  readonly upload: Upload | null;
}
