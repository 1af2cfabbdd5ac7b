import type { Call } from '../call.ts';
import type { Reply } from '../reply.ts';
import type { RevisionRequest } from '../revise.ts';
import type { Target } from '../target.ts';

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
