import { StoppedError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/exit-code.ts';

/** A container is killed ten seconds after it was asked to stop, often sooner; this is well before. */
const GRACE_MS = 4_000;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** One of the signals that ask the process to stop. */
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** How a process hears signals and ends. */
export interface ProcessControl {
  on(signal: StopSignal, listener: () => void): void;
  off(signal: StopSignal, listener: () => void): void;
  /** Ends the process at once. */
  exit(code: ExitCode): void;
}

/** The wish to stop, as a signal for jobs. */
export interface Stopping {
  /** Aborted with a {@link StoppedError} by the first signal. */
  readonly signal: AbortSignal;
  /** Stops listening. */
  dispose(): void;
}

/**
 * Turns signals into an abort. The first asks the job to end; the second, or four seconds, end the
 * process, which costs nothing that was committed.
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
