import type { NameInFile } from '../../warehouse/organization-names.ts';
import type { PlanRequest } from '../plan.ts';
import type { DayWorkOptions } from './days/day-work.ts';

/** What a run needs. The caller locks the warehouse and releases the lock. */
export interface RunOptions extends PlanRequest, DayWorkOptions {
  readonly command: string;
  /** Maximum number of batches in flight. */
  readonly concurrency: number;
  /** Maximum number of days per request. */
  readonly rangeDays: number;
  /** Settled days this far back are compared with the service in every run, older ones in turn; 0 is off. */
  readonly watchDays: number;
  /** Accept losses that were doubted when the run began and are no larger now. */
  readonly acceptLoss: boolean;
  /** The organization. @default what the service answers for the key */
  readonly orgId?: string | null;
  /** The name of the organization, which must stand for the one that the service answers for. @default none */
  readonly named?: NameInFile | undefined;
  /** The application host has a separate credential, whose refusal says nothing about the main one. @default false */
  readonly hasAppKey?: boolean;
  /** Aborted when the run is to end at the next unit boundary. */
  readonly signal: AbortSignal;
}

/** A run with its id. */
export type NamedRun = RunOptions & { readonly runId: string };
