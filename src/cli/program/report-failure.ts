import { systemClock } from '../../core/clock.ts';
import { UsageError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/exit-code.ts';
import type { Redactor } from '../../settings/redact.ts';
import type { LogFormat } from '../../settings/settings.ts';
import { NoCommandError } from '../arguments/no-command-error.ts';
import { createJsonLog } from '../log/json-log.ts';
import type { Log } from '../log/log.ts';
import type { Sink } from '../output/sink.ts';
import { describeFailure, failureOf, logFailure, publicFailure } from './failure.ts';

/** Where and how to report a failure. */
export interface FailureReporting {
  /** Standard error. */
  readonly sink: Sink;
  readonly redact: Redactor;
  /** True to print the stack. */
  readonly debug: boolean;
  /** With `json`, the failure is written as a line of the log; otherwise in words. */
  readonly format: LogFormat | undefined;
  /**
   * The log for a failure as JSON.
   * @default a new log on the sink
   */
  readonly log?: Log;
  /**
   * True to write usage errors in words even if the format is `json`, because a person has just typed the command.
   * @default false
   */
  readonly usageInWords?: boolean;
  /**
   * Leave out whatever may name a person, except from usage errors: they come before the first request.
   * @default false
   */
  readonly isPublic?: boolean;
}

/** Reports a failure on standard error, and returns its exit code. */
export function reportFailure(error: unknown, reporting: FailureReporting): ExitCode {
  const { sink, redact, debug, format, usageInWords = false, isPublic = false } = reporting;
  const whole = failureOf(error);
  const failure = isPublic && !(error instanceof UsageError) ? publicFailure(whole) : whole;
  if (format === 'json' && !(usageInWords && error instanceof UsageError)) {
    const write = (text: string) => sink.write(redact(text));
    logFailure(reporting.log ?? createJsonLog({ write, clock: systemClock() }), failure, { debug });
  } else {
    if (error instanceof NoCommandError) sink.write(`${error.help}\n`);
    for (const line of describeFailure(failure, { debug })) sink.write(redact(`${line}\n`));
  }
  return failure.exitCode;
}
