import { systemClock } from '../../core/clock.ts';
import { DaywalkError, messageOf, UsageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { brokenInstallation } from '../../core/files.ts';
import { publicText } from '../../privacy/index.ts';
import type { LogFormat, Redactor } from '../../settings/index.ts';
import { createJsonLog, type Log, type LogEntry } from '../output/log.ts';
import type { Sink } from '../output/terminal.ts';
import { hintOf } from '../remedies.ts';
import { escapeForTerminal } from '../screens/text.ts';

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
    const { exitCode, details } = failure;
    const fields = { exitCode, ...(details.length > 0 ? { details } : {}) };
    const log = reporting.log ?? createJsonLog({ write, clock: systemClock() });
    logFailure(log, failure, { debug, event: 'command-failed', fields });
  } else {
    if (error instanceof NoCommandError) sink.write(`${error.help}\n`);
    for (const line of describeFailure(failure, { debug })) sink.write(redact(`${line}\n`));
  }
  return failure.exitCode;
}

/** The report of an error that ends a command. */
interface Failure {
  readonly exitCode: ExitCode;
  readonly message: string;
  /** Further lines after the message. */
  readonly details: readonly string[];
  readonly hint: string;
  /** The stacks of the error and its causes. */
  readonly stack: string;
}

/** Node's message for a package that is not installed. */
const MISSING_PACKAGE = /^Cannot find package '([^']+)'/;

/** Describes a thrown value. Every value except a {@link DaywalkError} and a package that is missing is a defect. */
export function failureOf(thrown: unknown): Failure {
  const stack = stackOf(thrown);
  const [, name] = MISSING_PACKAGE.exec(messageOf(thrown)) ?? [];
  const error = name === undefined ? thrown : brokenInstallation(name, thrown);
  if (error instanceof DaywalkError) {
    const { exitCode, message, details } = error;
    return { exitCode, message, details, hint: hintOf(error) ?? '', stack };
  }
  return {
    exitCode: EXIT.defect,
    message: `a defect in daywalk: ${messageOf(error)}`,
    details: [],
    hint: 'report it with the output of DAYWALK_DEBUG=1; committed data is safe, and a rerun resumes',
    stack,
  };
}

/** A failure without texts of the service and whatever may name a person. */
function publicFailure({ exitCode, message, details, hint, stack }: Failure): Failure {
  return {
    exitCode,
    message: publicText(message),
    details: details.map(publicText),
    hint: publicText(hint),
    stack: stack.split('\n').map(publicText).join('\n'),
  };
}

/** A failure as lines for people: the message and its details, the hint, and with `debug` the stack. */
export function describeFailure(failure: Failure, { debug }: { readonly debug: boolean }): string[] {
  const lines = [`daywalk: ${oneLine(failure.message)}`, ...failure.details.map(oneLine)];
  if (failure.hint !== '') lines.push(`hint: ${oneLine(failure.hint)}`);
  if (debug) lines.push(...failure.stack.split('\n').map(escapeForTerminal));
  return lines;
}

/** Writes a failure to a log, with `debug` with its stack. */
export function logFailure(
  log: Log,
  { message, hint, stack }: Failure,
  { debug, event, fields }: Pick<LogEntry, 'event' | 'fields'> & { readonly debug: boolean },
): void {
  log.write({
    ...{ level: 'error', event, message, hint: hint === '' ? undefined : hint },
    fields: { ...fields, ...(debug ? { stack } : {}) },
  });
}

function oneLine(text: string): string {
  return escapeForTerminal(text.replace(/\s*\n\s*/g, ' ').trim());
}

const CAUSES_MAX = 5;

function stackOf(error: unknown): string {
  const stacks: string[] = [];
  let current = error;
  while (current instanceof Error && stacks.length < CAUSES_MAX) {
    stacks.push(current.stack ?? current.message);
    current = current.cause;
  }
  return stacks.join('\ncaused by: ');
}

/** A command line without a command. */
export class NoCommandError extends UsageError {
  /** The help of the program, or of the named group of commands. */
  readonly help: string;

  constructor(message: string, { hint, help }: { readonly hint: string; readonly help: string }) {
    super(message, { hint });
    this.help = help;
  }
}
