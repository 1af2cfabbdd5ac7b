import type { Call } from '../http/incoming-request.ts';
import type { Reply } from '../http/prepared-response.ts';
import type { Target } from '../http/request-target.ts';
import type { RevisionRequest } from '../world/revise.ts';

/** What actions need of their surroundings. */
export interface FaultContext {
  readonly call: Call;
  /** The answer without faults, to this request or to another one. */
  answer(target: Target): Reply;
  targetOf(url: string): Target;
  revise(request: RevisionRequest): void;
  now(): Date;
  /** Told when an action found nothing that it could change. */
  missed(): void;
}
