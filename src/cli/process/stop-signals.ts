import { DaywalkError, StoppedError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';

/** How long a job may take to stop. Containers are killed ten seconds after the signal, often sooner. */
const GRACE_MS = 4_000;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** A signal that asks the process to stop. */
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** The signals and the exit of a process. */
export interface ProcessControl {
  on(signal: StopSignal, listener: () => void): void;
  off(signal: StopSignal, listener: () => void): void;
  /** Leaves a signal to the operating system, which ends the process at once. */
  leave(signal: StopSignal): void;
  /** Ends the process at once. */
  exit(code: ExitCode): void;
}

/** Stop signals of the process, as an abort signal for jobs. */
interface Stopping {
  /** Aborted with a {@link StoppedError} by the first signal. */
  readonly signal: AbortSignal;
  /** Stops listening. */
  dispose(): void;
}

/**
 * Turns SIGINT and SIGTERM into an abort. The first signal asks the job to stop; a second signal, or four seconds, end the
 * process. Committed data is safe in both cases.
 */
export function listenForStop(control: ProcessControl, onStop: (signal: StopSignal) => void): Stopping {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stop = (name: StopSignal) => {
    const reason = new StoppedError(name);
    if (controller.signal.aborted) return control.exit(reason.exitCode);
    timer = setTimeout(() => control.exit(reason.exitCode), GRACE_MS);
    controller.abort(reason);
    onStop(name);
  };
  const listeners = STOP_SIGNALS.map((name) => ({ name, listener: () => stop(name) }));
  for (const { name, listener } of listeners) control.on(name, listener);
  return {
    signal: controller.signal,
    dispose: () => {
      clearTimeout(timer);
      for (const { name, listener } of listeners) control.off(name, listener);
    },
  };
}

/** The exit code of a command that works until it is stopped. */
export function stopCode({ reason }: { readonly reason: unknown }): ExitCode {
  return reason instanceof DaywalkError ? reason.exitCode : EXIT.ok;
}

/** Leaves the stop signals to the operating system; nothing is ever aborted. */
export function leaveStopSignals(control: ProcessControl): Stopping {
  for (const name of STOP_SIGNALS) control.leave(name);
  return { signal: new AbortController().signal, dispose: () => undefined };
}

/** How much the heap of a run may grow. */
const GROWTH_PERCENT_MAX = 50;

/**
 * Makes V8 collect garbage earlier. By default the heap may grow to four times the memory in use, which saves a few
 * percent of the time and costs a hundred megabytes.
 * @param percent how much it may grow between two full garbage collections, in percent of the heap in use
 */
export function limitHeapGrowth(percent = GROWTH_PERCENT_MAX): void {
  // An import would load it for every command, which takes two milliseconds.
  process.getBuiltinModule('node:v8').setFlagsFromString(`--heap-growing-percent=${percent}`);
}
