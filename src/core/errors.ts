import { EXIT, type ExitCode } from './exit-code.ts';
import type { RuleName } from './rules.ts';

/**
 * What the caller does about an error:
 * `retry` the request, then fail its unit; fail the `unit` and go on with the others; end the `run`.
 */
export type ErrorEffect = 'retry' | 'unit' | 'run';

/** Options common to all errors of this program. */
export interface DaywalkErrorOptions {
  /** The error that this one explains. */
  cause?: unknown;
  /** What the reader can do about it, as one sentence. */
  hint?: string | undefined;
}

/**
 * An error that this program understands. Its message says what was done to which thing and what came back;
 * `hint` is the remedy. Anything that is not a `DaywalkError` is a defect (exit code 1).
 */
export class DaywalkError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;
  readonly effect: ErrorEffect;

  constructor(message: string, options: DaywalkErrorOptions & { exitCode: ExitCode; effect: ErrorEffect }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.hint = options.hint;
    this.exitCode = options.exitCode;
    this.effect = options.effect;
  }
}

/** Wrong arguments, settings or configuration. Exit code 2; nothing was sent or written. */
export class UsageError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions = {}) {
    super(message, { ...options, exitCode: EXIT.usage, effect: 'run' });
  }
}

/** There is no warehouse where one is to be read. Exit code 2. */
export class NoWarehouseError extends UsageError {
  constructor(location: string) {
    super(`there is no warehouse at ${location}`, {
      hint: 'create it with daywalk run, or name another with --warehouse',
    });
  }
}

/** One unit cannot be completed now; the others go on. Exit code 4; a rerun pulls the unit again. */
export class UnitError extends DaywalkError {
  /** The rule by which the answer is not believed; undefined for failures of another kind. */
  readonly reason: RuleName | undefined;

  constructor(
    message: string,
    options: DaywalkErrorOptions & { effect?: ErrorEffect; reason?: RuleName | undefined } = {},
  ) {
    super(message, { effect: 'unit', ...options, exitCode: EXIT.upstream });
    this.reason = options.reason;
  }
}

/** The run cannot go on against this upstream. What was committed stays; exit code 4 unless said otherwise. */
export class RunError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions & { exitCode?: ExitCode } = {}) {
    super(message, { exitCode: EXIT.upstream, ...options, effect: 'run' });
  }
}

/**
 * As many requests as were allowed are sent. What is under way is finished and stored, nothing more is begun; exit
 * code 4, and the next run goes on there.
 */
export class RequestsSpentError extends DaywalkError {
  constructor(requestsMax: number) {
    super(`the ${requestsMax} requests that this run may send are sent`, {
      exitCode: EXIT.upstream,
      effect: 'run',
      hint: 'run again: it goes on where this run ended. If it never gets on, allow more with --max-requests',
    });
  }
}

/** The warehouse cannot be read or written. Exit code 6. */
export class StorageError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions = {}) {
    super(message, { ...options, exitCode: EXIT.storage, effect: 'run' });
  }
}

/** What the database stored cannot be read back: a damaged file, a broken page. Exit code 6. */
export class DamagedError extends StorageError {
  // To whoever is told of it, it is a failure of storage.
  override readonly name = 'StorageError';
}

/** Another process holds the warehouse. Exit code 75 (try again later). */
export class BusyError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions = {}) {
    super(message, { ...options, exitCode: EXIT.busy, effect: 'run' });
  }
}

/**
 * What was claimed for this worker was lost with the connection that held it, and may be another's by now: nothing was
 * stored, and the unit must be claimed and pulled again.
 */
export class ClaimLostError extends DaywalkError {
  constructor(message: string, options: DaywalkErrorOptions = {}) {
    super(message, { ...options, exitCode: EXIT.upstream, effect: 'unit' });
  }
}

/** The process was asked to stop. Exit code 130 (SIGINT) or 143 (SIGTERM). */
export class StoppedError extends DaywalkError {
  constructor(signal: 'SIGINT' | 'SIGTERM') {
    const exitCode = signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
    super(`stopped by ${signal}`, {
      exitCode,
      effect: 'run',
      hint: 'what was committed is safe; the next run resumes',
    });
  }
}

/**
 * An error that this program does not understand, met while working on one unit: the others go on, and exit code 1
 * tells that there is a defect.
 */
export class DefectError extends DaywalkError {
  constructor(doing: string, cause: unknown) {
    super(`${doing}: ${messageOf(cause)}`, {
      cause,
      exitCode: EXIT.defect,
      effect: 'unit',
      hint: 'this is a defect in daywalk; please report it with this message',
    });
  }
}

/** The text of anything thrown, without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
