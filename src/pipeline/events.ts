import type { UtcDay } from '../core/day.ts';
import type { Advice, RuleName } from '../core/errors.ts';
import type { ExitCode } from '../core/exit-code.ts';
import type { DailyStream, Stream } from '../core/stream.ts';
import type { Contract } from '../expected/index.ts';
import type { WaitEvent } from '../marks/index.ts';
import type { RunRecord } from '../records/index.ts';
import type { UnitName, UnitState } from '../units/index.ts';

/** An event of a run. Observers must not throw and should return at once. */
export type RunEvent =
  | {
      readonly type: 'run-started';
      readonly runId: string;
      readonly command: string;
      /** The name of the organization in the organizations file; absent without one. */
      readonly organization?: string;
      readonly warehouse: string;
    }
  /** The settings of this run have changed what is expected of an organization. */
  | {
      readonly type: 'contract-changed';
      readonly orgId: string;
      readonly contract: Contract;
      readonly changedFrom: Contract;
    }
  | {
      readonly type: 'planned';
      readonly orgId: string;
      readonly units: number;
      readonly firstDay: UtcDay;
      readonly lastDay: UtcDay;
      readonly streams: readonly Stream[];
    }
  | (UnitName & {
      readonly type: 'unit-done';
      readonly state: UnitState;
      /** Rows that the unit holds. */
      readonly rows: number;
      readonly rowsWritten: number;
      readonly requests: number;
      readonly restated: boolean;
      readonly quarantined: number;
    })
  /** Another worker committed a unit of the plan. */
  | (UnitName & {
      readonly type: 'unit-elsewhere';
      readonly state: UnitState;
    })
  | (UnitName &
      Advice & {
        readonly type: 'unit-failed';
        readonly state: 'failed' | 'awaiting';
        readonly error: string;
      })
  /** An answer would have removed stored rows. Nothing of it is stored. */
  | (UnitName & {
      readonly type: 'unit-doubted';
      readonly rule: RuleName;
      /** How many stored rows with activity are missing, and how many are stored. */
      readonly rows: number;
      readonly of: number;
      /** Since when, as an ISO instant. */
      readonly since: string;
    })
  /** A range left a stream unclear on these days, so they are requested again. */
  | {
      readonly type: 'looks-again';
      readonly stream: DailyStream;
      readonly days: readonly UtcDay[];
      readonly rule: RuleName;
    }
  /** Settled days differ from the service for the second time, so they are pulled again. */
  | { readonly type: 'days-reopened'; readonly days: readonly UtcDay[] }
  /** One page of readiness reports was committed; the walk continues. */
  | { readonly type: 'readiness-page'; readonly reports: number; readonly rowsWritten: number }
  /** A request is about to be repeated. */
  | {
      readonly type: 'retry';
      readonly target: string;
      readonly attempt: number;
      readonly waitMs: number;
      readonly error: string;
    }
  | WaitEvent
  | ({ readonly type: 'warning'; readonly message: string } & Advice)
  | { readonly type: 'run-ended'; readonly report: RunReport }
  /** An organization of a round was not exported: its run could not begin. */
  | (Advice & {
      readonly type: 'organization-left-out';
      readonly organization: string;
      readonly exitCode: ExitCode;
      readonly message: string;
    });

export type RunObserver = (event: RunEvent) => void;

/** A problem of a run, listed once per cause. */
export interface RunProblem extends Advice {
  readonly message: string;
  /** How many units it affected. */
  readonly units: number;
}

/** The result of a run. Every number is counted; none is derived from the plan. */
export interface RunReport extends Omit<RunRecord, 'startedAt' | 'endedAt' | 'exitCode'> {
  /** The name of the organization in the organizations file; absent without one. */
  readonly organization?: string;
  /** The organizations in the warehouse before this run added another one; absent if it did not. */
  readonly organizationsBefore?: readonly string[];
  readonly exitCode: ExitCode;
  /** The range of the plan; null if the run ended before it planned. */
  readonly firstDay: UtcDay | null;
  readonly lastDay: UtcDay | null;
  readonly unitsPlanned: number;
  /** Units of the request that were not pulled because they are settled. */
  readonly unitsSettled: number;
  /** Committed by other workers since this run made its plan. */
  readonly unitsElsewhere: number;
  /** Planned, but neither committed by any worker nor failed when the run ended. */
  readonly unitsLeftOut: number;
  /** Doubted units of the run's range: the service's answers lack some of their stored rows. */
  readonly unitsDoubted: number;
  /** Units in the range whose answers go back and forth: what is stored of settled ones stays. */
  readonly unitsUnstable: number;
  /** Settled days that were pulled again because the service changed them. */
  readonly daysReopened: number;
  /** Committed units by their present state. */
  readonly states: Readonly<Partial<Record<UnitState, number>>>;
  readonly restatements: number;
  readonly quarantined: number;
  /** Number of responses by HTTP status. A request without a response is missing. */
  readonly responses: Readonly<Record<string, number>>;
  readonly durationMs: number;
  /** The streams that the run brought up to yesterday: it committed every unit of them that it planned. */
  readonly completed: readonly Stream[];
  readonly problems: readonly RunProblem[];
}
