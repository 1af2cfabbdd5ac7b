import type { UtcDay } from '../core/day.ts';
import type { ExitCode } from '../core/exit-code.ts';
import type { Advice } from '../core/reasons.ts';
import type { RuleName } from '../core/rules.ts';
import type { DailyStream, Stream } from '../core/stream.ts';
import type { UnitName, UnitState } from '../warehouse/port.ts';

/** What a run says while it works. Observers must not throw and should return at once. */
export type RunEvent =
  | {
      readonly type: 'run-started';
      readonly runId: string;
      readonly command: string;
      readonly warehouse: string;
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
  /** Another worker has brought a unit of the plan. */
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
      /** Stored rows with activity that are missing, of so many. */
      readonly rows: number;
      readonly of: number;
      /** Since when, as an ISO instant. */
      readonly since: string;
    })
  /** A range of days leaves a stream of these days unclear, by this rule: it is asked for again. */
  | {
      readonly type: 'looks-again';
      readonly stream: DailyStream;
      readonly days: readonly UtcDay[];
      readonly rule: RuleName;
    }
  /** Settled days differ from what the service says now, for the second time: they are pulled again. */
  | { readonly type: 'days-reopened'; readonly days: readonly UtcDay[] }
  /** One page of readiness reports is committed; the walk goes on. */
  | { readonly type: 'readiness-page'; readonly reports: number; readonly rowsWritten: number }
  /** A request is about to be repeated. */
  | {
      readonly type: 'retry';
      readonly target: string;
      readonly attempt: number;
      readonly waitMs: number;
      readonly error: string;
    }
  | ({ readonly type: 'warning'; readonly message: string } & Advice)
  | { readonly type: 'run-ended'; readonly report: RunReport };

/** Receives the events of a run. */
export type RunObserver = (event: RunEvent) => void;

/** A problem of a run, listed once per cause. */
export interface RunProblem extends Advice {
  readonly message: string;
  /** How many units it affected. */
  readonly units: number;
}

/** What a run did. Every number is counted, none is derived from what was planned. */
export interface RunReport {
  readonly runId: string;
  readonly command: string;
  /** Null when the run ended before the service named the organization. */
  readonly orgId: string | null;
  /** The organizations that the warehouse knew before, where the run brought a further one; absent where it did not. */
  readonly organizationsBefore?: readonly string[];
  readonly exitCode: ExitCode;
  /** The range of the plan; null when the run ended before it planned. */
  readonly firstDay: UtcDay | null;
  readonly lastDay: UtcDay | null;
  readonly unitsPlanned: number;
  readonly unitsDone: number;
  /** Brought by other workers on the same warehouse since this run made its plan. */
  readonly unitsElsewhere: number;
  readonly unitsFailed: number;
  /** Planned, but neither done, here or elsewhere, nor failed when the run ended. */
  readonly unitsLeftOut: number;
  /** Units of the run's scope that hold rows which the service does not answer any more, and that is not believed yet. */
  readonly unitsDoubted: number;
  /** Settled days that were pulled again because the service had changed them. */
  readonly daysReopened: number;
  /** Committed units by the state they are in now. */
  readonly states: Readonly<Partial<Record<UnitState, number>>>;
  readonly rowsWritten: number;
  readonly restatements: number;
  readonly quarantined: number;
  readonly requests: number;
  readonly retries: number;
  readonly durationMs: number;
  readonly problems: readonly RunProblem[];
}
