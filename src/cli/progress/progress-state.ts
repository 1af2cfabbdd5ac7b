import { unitName } from '../../warehouse/port.ts';
import type { ReportedEvent } from '../output/reported-event.ts';
import { escapeForTerminal } from '../text/escape.ts';

/** The period over which the request rate is measured. */
const WINDOW_MS = 10_000;
/** The shortest time between two samples, which bounds their number. */
const SAMPLE_MS = 250;

interface Sample {
  readonly atMs: number;
  readonly requests: number;
}

/** The progress of a job, derived from its events. Times are monotonic milliseconds. */
export interface ProgressState {
  readonly startedMs: number;
  /** The current step, before the plan is known. */
  readonly preparing: string;
  /** The name of the organization; '' without one. */
  readonly organization: string;
  /** Null before the plan is known. */
  readonly unitsPlanned: number | null;
  readonly unitsDone: number;
  /** Committed by other workers since the plan was made. */
  readonly unitsByOthers: number;
  readonly unitsFailed: number;
  readonly rowsWritten: number;
  readonly requests: number;
  readonly retries: number;
  /** The unit that ended last, or the step after the units. */
  readonly current: string;
  readonly samples: readonly Sample[];
}

/** The state at the start of a job. */
export function startProgress(startedMs: number, organization?: string): ProgressState {
  const whose = organization === undefined ? '' : `${escapeForTerminal(organization)}: `;
  return {
    startedMs,
    preparing: `${whose}looking up the organization of the API key …`,
    organization: organization === undefined ? '' : escapeForTerminal(organization),
    unitsPlanned: null,
    unitsDone: 0,
    unitsByOthers: 0,
    unitsFailed: 0,
    rowsWritten: 0,
    requests: 0,
    retries: 0,
    current: '',
    samples: [{ atMs: startedMs, requests: 0 }],
  };
}

/** The state after an event. */
export function advance(state: ProgressState, event: ReportedEvent, atMs: number): ProgressState {
  switch (event.type) {
    // A round has a run for each organization, one after the other.
    case 'run-started':
      return startProgress(atMs, event.organization);
    case 'planned':
      return { ...state, unitsPlanned: (state.unitsPlanned ?? 0) + event.units };
    case 'unit-done':
      return sampled(
        {
          ...state,
          unitsDone: state.unitsDone + 1,
          rowsWritten: state.rowsWritten + event.rowsWritten,
          requests: state.requests + event.requests,
          current: unitName(event),
        },
        atMs,
      );
    case 'unit-elsewhere':
      return { ...state, unitsByOthers: state.unitsByOthers + 1 };
    case 'unit-failed':
      return { ...state, unitsFailed: state.unitsFailed + 1 };
    case 'retry':
      return { ...state, retries: state.retries + 1 };
    case 'copy-started':
      return { ...state, preparing: 'comparing the two warehouses …' };
    case 'copy-planned':
      return { ...state, unitsPlanned: event.units };
    case 'copied':
      return {
        ...state,
        unitsDone: state.unitsDone + event.units,
        rowsWritten: state.rowsWritten + event.rowsWritten,
        current: `${event.what} ${event.lastDay}`.trim(),
      };
    case 'copy-comparing':
      return { ...state, current: `comparing ${event.table}` };
    default:
      return state;
  }
}

/** Requests per second over the last ten seconds; null as long as there is too little data. */
export function requestRate({ samples, requests }: ProgressState, atMs: number): number | null {
  const oldest = samples[0];
  if (oldest === undefined || atMs - oldest.atMs < 2 * SAMPLE_MS) return null;
  return ((requests - oldest.requests) * 1_000) / (atMs - oldest.atMs);
}

/** The number of units that have ended, with or without success. */
export function unitsEnded({ unitsDone, unitsByOthers, unitsFailed }: ProgressState): number {
  return unitsDone + unitsByOthers + unitsFailed;
}

/** Estimated milliseconds to the end; null as long as there is too little data. */
export function timeLeftMs(state: ProgressState, atMs: number): number | null {
  const ended = unitsEnded(state);
  const elapsedMs = atMs - state.startedMs;
  if (state.unitsPlanned === null || ended < 3 || elapsedMs < 1_000) return null;
  return (elapsedMs / ended) * Math.max(0, state.unitsPlanned - ended);
}

function sampled(state: ProgressState, atMs: number): ProgressState {
  const last = state.samples.at(-1);
  if (last !== undefined && atMs - last.atMs < SAMPLE_MS) return state;
  const recent = state.samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS);
  return { ...state, samples: [...recent, { atMs, requests: state.requests }] };
}
